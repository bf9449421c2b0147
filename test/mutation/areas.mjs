/**
 * The areas of the mutation tests. StrykerJS changes one expression of src/ at a time, and expects a test to fail. Each
 * area is tested only by the tests that belong to it, because a mutant that survives runs all tests of its area. The
 * threshold is the minimum percentage of mutants that the tests must detect. The `lastRun` of a large area has parts:
 * survivors ran again with the tests that were added for them. `testTimeout` in milliseconds is short where mutants often
 * make a test wait forever. The tests of an area that `needsBuild` load the built files that the HTTP adapter serves. A slow
 * survivor on a busy machine must not count as detected: where the tests take long, `timeoutMS` is how much longer than
 * the tests a mutant may take. The module `preload` is loaded before the tests. In an area that `hasEachKind`, pets have
 * an attribute of each kind, as in the tests of the project `entity`.
 */

import { globSync } from 'node:fs';

const ADAPTERS = 'src/adapters';
const TESTS = 'test/adapters';

/** Returns the tests in a folder and its subfolders. StrykerJS has no pattern that excludes test files. */
function testsIn(folder, exclude = []) {
  return globSync(`${folder}/**/*.test.ts`, { exclude });
}

export const AREAS = {
  core: {
    mutate: ['src/{domain,application}/**/*.ts'],
    // The code of mutants takes too long for limits of processor time.
    testFiles: testsIn('test/{domain,application}', ['test/domain/json-time.test.ts']),
    threshold: 98,
    mutatesTexts: true,
    hasEachKind: true,
    // Some survivors only select the faster of two equal paths of domain/json.ts.
    lastRun: '2026-11-29: 98.8 % of 1,753; 2026-11-30: 98.2 % of 678 in the files that changed afterwards',
    testTimeout: 4000,
  },
  page: {
    // The modules that need a browser are tested there (test/clients).
    mutate: ['page/**/*.ts', '!page/{main.ts,view/**}'],
    testFiles: testsIn('test/page'),
    threshold: 95,
    lastRun: '2026-11-29: 98.9 % of 794',
  },
  http: {
    mutate: [`${ADAPTERS}/http/**/*.ts`, `!${ADAPTERS}/http/fetch{,-messages}.ts`],
    // Random requests would change the score of each run, and the recorded responses include those of a slow client.
    testFiles: [
      ...testsIn(`${TESTS}/http`, [`${TESTS}/http/{properties,slow-client}.test.ts`]),
      ...globSync('test/library/{fetch,http,http2,middleware,mounting,wrong-arguments}.test.ts'),
    ],
    threshold: 90,
    lastRun: '2026-11-29: 91.9 % of 1,336, in two parts; 2026-11-30: 90.6 % of 139 in the lines that changed',
    needsBuild: true,
    testTimeout: 8000,
  },
  // Its tests run the API over the fetch handler.
  fetch: {
    mutate: [`${ADAPTERS}/http/fetch{,-messages}.ts`],
    testFiles: globSync([
      `${TESTS}/http/{authentication,body,failure,get,host-code,recorded,request-fields}.test.ts`,
      'test/library/{fetch,middleware}.test.ts',
    ]),
    carrier: 'fetch',
    threshold: 90,
    lastRun: '2026-11-29: 92.0 % of 127',
    needsBuild: true,
    testTimeout: 8000,
  },
  // StrykerJS activates a mutant on the main thread only. So the modules of threads cannot be mutated, and the other
  // modules that they run are tested on the main thread.
  sqlite: {
    mutate: [`${ADAPTERS}/sqlite/**/*.ts`, `!${ADAPTERS}/sqlite/**/*-thread.ts`],
    // The commands show what a user does with a file of a store.
    testFiles: [
      ...testsIn(`${TESTS}/sqlite`),
      ...globSync(`${TESTS}/cli/{backup,doctor,export,import,restore}.test.ts`),
    ],
    // Tests of faults cover threads that exit and processes that wait for a lock. Random operations cover the caches.
    threshold: 86,
    lastRun:
      '2026-11-29: 86.3 % of 124 random mutants; 2026-11-30: 38 of 40, and 111 of 125 in the lines that changed',
    needsBuild: true,
    testTimeout: 10_000,
    timeoutMS: 20_000,
  },
  postgres: {
    mutate: [`${ADAPTERS}/postgres/**/*.ts`],
    // The tests of outages wait 20 s.
    testFiles: testsIn(`${TESTS}/postgres`, [`${TESTS}/postgres/outage.test.ts`]),
    threshold: 90,
    lastRun:
      '2026-11-29: 93.7 % of 207 random mutants; 2026-11-30: 36 of 39, and 30 of 32 in the lines that changed',
    needsPostgres: true,
    testTimeout: 12_000,
    timeoutMS: 15_000,
  },
  'storage-kit': {
    mutate: [`${ADAPTERS}/{storage-kit,memory}/**/*.ts`],
    // Only the databases use some modules of storage-kit.
    testFiles: [
      ...testsIn(`${TESTS}/{storage-kit,memory}`),
      ...globSync(
        `${TESTS}/sqlite/{api-key-repository,attributes,contracts,errors,examination,idempotent-creates,older-stores,pet-repository}.test.ts`,
      ),
    ],
    threshold: 90,
    lastRun: '2026-11-29: 95.4 % of 625',
    testTimeout: 8000,
  },
  cli: {
    mutate: [`${ADAPTERS}/cli/**/*.ts`],
    testFiles: [...testsIn(`${TESTS}/cli`), ...globSync('test/composition/{commands,pets-command}.test.ts')],
    // End-to-end tests show signals, pipes and terminals. No attribute has some of the kinds that options could have.
    threshold: 87,
    lastRun: '2026-11-29: 88.6 % of 219 random mutants; 2026-11-30: 45 of 47 in the lines that changed',
    needsBuild: true,
    testTimeout: 8000,
  },
  library: {
    mutate: ['src/library/**/*.ts', `${ADAPTERS}/api-client/**/*.ts`],
    // The contracts take long over HTTP, and the other tests of test/library read the built package, or the sources as text.
    testFiles: globSync([
      'test/library/{animal-store,fetch,wrong-arguments}.test.ts',
      `${TESTS}/api-client/{changes,client,deprecation,other-servers,retries}.test.ts`,
    ]),
    // Otherwise its constants would belong to the test that loads it first.
    preload: `${ADAPTERS}/api-client/index.ts`,
    threshold: 90,
    lastRun:
      '2026-11-29: 91.5 % of 601; 2026-11-30: 90.8 % of 239 in the client, 91.0 % of 122 in the lines that changed',
    needsBuild: true,
    testTimeout: 8000,
  },
  observers: {
    // End-to-end tests show what standard error does when it is full, closed or not read.
    mutate: [`${ADAPTERS}/{log,metrics}/**/*.ts`, `!${ADAPTERS}/log/standard-error.ts`],
    testFiles: testsIn(`${TESTS}/{log,metrics}`),
    threshold: 95,
    lastRun: '2026-11-29: 99.6 % of 248',
    testTimeout: 8000,
  },
  composition: {
    mutate: ['src/composition/**/*.ts'],
    testFiles: [
      ...testsIn('test/composition'),
      ...globSync([
        'test/adapters/cli/{database-url,doctor,import,serve}.test.ts',
        'test/{e2e/cli-server,library/animal-store}.test.ts',
      ]),
    ],
    threshold: 90,
    lastRun: '2026-11-29: 91.9 % of 124 random mutants; 2026-11-30: 90.9 % of 187',
    needsBuild: true,
    needsPostgres: true,
    testTimeout: 8000,
  },
};
