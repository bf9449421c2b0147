/**
 * The areas of the mutation tests. StrykerJS changes one expression of src/ at a time, and expects a test to fail. Each
 * area is tested only by the tests that belong to it, because a mutant that survives runs all tests of its area. The
 * threshold is the minimum percentage of mutants that the tests must detect. The timeout of a test, in milliseconds, is
 * short in an area whose mutants often make a test wait forever. The tests of an area that `needsBuild` load the built
 * files that the HTTP adapter serves. A mutant that survives runs all tests of its area, which must not count as a detection
 * on a busy machine: where these tests take long, `timeoutMS` is what a mutant may take longer than they do.
 */

import { globSync } from 'node:fs';

const HTTP_TESTS = 'test/adapters/http';
const SQLITE = 'src/adapters/sqlite';
const SQLITE_TESTS = 'test/adapters/sqlite';

/** The tests of slow clients and of connections, which take seconds. */
const SOCKET_TESTS = `${HTTP_TESTS}/{connections,lingering-close,overload,pipelines,server,slow-client,stopping,tunnels}.test.ts`;

/** The code of mutants takes too long for limits of processor time. */
const CORE_TESTS = globSync('test/{domain,application,adapters/storage-kit}/**/*.test.ts', {
  exclude: ['test/domain/json-time.test.ts'],
});

/** Random requests would make the score of each run another one. StrykerJS has no pattern that excludes test files. */
const API_TESTS = globSync(`${HTTP_TESTS}/*.test.ts`, {
  exclude: [SOCKET_TESTS, `${HTTP_TESTS}/properties.test.ts`],
});

export const AREAS = {
  core: {
    // The queue of calls belongs to `sqlite-writer`, whose tests fill it up to its limits.
    mutate: [
      'src/{domain,application,adapters/storage-kit}/**/*.ts',
      '!src/adapters/storage-kit/call-queue.ts',
    ],
    testFiles: CORE_TESTS,
    threshold: 98,
    testTimeout: 4000,
  },
  http: {
    // The modules that need a browser are tested there (test/clients).
    mutate: ['{page,src/adapters/http}/**/*.ts', '!src/adapters/http/node/**', '!page/{main.ts,view/**}'],
    testFiles: [
      ...API_TESTS,
      `${HTTP_TESTS}/overload.test.ts`,
      'test/library/{fetch,http,http2,middleware,wrong-arguments}.test.ts',
      'test/page/*.test.ts',
    ],
    threshold: 91,
    needsBuild: true,
    testTimeout: 8000,
  },
  sockets: {
    mutate: ['src/adapters/http/node/*.ts'],
    testFiles: [
      SOCKET_TESTS,
      `${HTTP_TESTS}/{bad-message,listeners,recorded,shared-limits}.test.ts`,
      'test/library/wrong-arguments.test.ts',
    ],
    threshold: 90,
    needsBuild: true,
    testTimeout: 8000,
  },
  'sqlite-repositories': {
    mutate: [
      `${SQLITE}/{api-key-repository,pet-repository,read-snapshot,storage,maintenance/pet-transfer}.ts`,
    ],
    testFiles: [
      `${SQLITE_TESTS}/{contracts,observer,open,statistics}.test.ts`,
      `${SQLITE_TESTS}/{api-key-repository,pet-repository,read-snapshot}.test.ts`,
      `${SQLITE_TESTS}/{health/changed-files,health/health,maintenance/pet-transfer}.test.ts`,
    ],
    threshold: 85,
    needsBuild: true,
  },
  // StrykerJS activates a mutant on the main thread only. So writer-thread.ts, the entry point of the writer thread,
  // cannot be mutated, and the modules that this thread runs are tested on the main thread.
  'sqlite-writer': {
    mutate: [
      `${SQLITE}/errors.ts`,
      `${SQLITE}/write/{batch,writer,writer-handle}.ts`,
      `src/adapters/storage-kit/call-queue.ts`,
    ],
    testFiles: [
      `${SQLITE_TESTS}/{errors,health/health,health/probe,observer,statistics}.test.ts`,
      `${SQLITE_TESTS}/write/{batch,writer,writer-sharing,writer-timeout}.test.ts`,
      `test/adapters/storage-kit/call-queue.test.ts`,
    ],
    threshold: 95,
    needsBuild: true,
    testTimeout: 5000,
    timeoutMS: 60_000,
  },
  'sqlite-files': {
    mutate: [
      `${SQLITE}/{database,files,health,store-files}.ts`,
      `${SQLITE}/maintenance/{backup,backup-target}.ts`,
    ],
    testFiles: [
      `${SQLITE_TESTS}/{file-modes,open,maintenance/backup,maintenance/backup-target,write/writer-timeout}.test.ts`,
      `${SQLITE_TESTS}/health/{changed-tables,full-disk,health,probe,store-files}.test.ts`,
    ],
    threshold: 95,
    needsBuild: true,
    testTimeout: 20_000,
    timeoutMS: 60_000,
  },
};
