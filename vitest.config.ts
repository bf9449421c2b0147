import { fileURLToPath } from 'node:url';
import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { inCopy } from './test/entity/entity.ts';
import { SummaryLine } from './test/reporter.ts';
import { IS_WHOLE } from './test/support/extent.ts';
import { RETRY } from './test/support/retry.ts';

/** The tests of the pure core use no file, no process and no adapter: `npm run test:core` runs them alone. */
const CORE = 'test/{domain,application,adapters/storage-kit}/**/*.test.ts';

/** The tests of the real command. They wait for other processes, so a test that fails is tried once more. */
const E2E = 'test/e2e/**/*.test.ts';

/**
 * Node.js keeps compiled modules here. Without this cache, every thread and process that a test starts compiles the
 * same modules again.
 */
const COMPILE_CACHE: string = fileURLToPath(new URL('node_modules/.cache/compiled-modules', import.meta.url));

/**
 * These files use no PostgreSQL and no time, and leave nothing behind that another file could notice. They share a process,
 * which loads the API and the command line once.
 */
const SHARED = [
  'test/adapters/{cli,log}/**/*.test.ts',
  'test/adapters/api-client/{changes,client,retries}.test.ts',
  'test/adapters/http/{authentication,bad-message,body,cors,get,invalid-pets,list}.test.ts',
  'test/adapters/http/{openapi-document,public-paths,recorded,request-fields}.test.ts',
  'test/adapters/http/{failure,host-code,public-url,rate-limit,request-log}.test.ts',
  'test/adapters/{memory,metrics}/**/*.test.ts',
  'test/composition/{addresses,api-key-verifier,commands,config,database-config}.test.ts',
  'test/composition/{databases,pet-attributes,refused-start}.test.ts',
  'test/library/{animal-store,api-samples,http,http2,middleware,mounting}.test.ts',
  'test/manuals/*.test.ts',
  'test/new/{attributes,names,records}.test.ts',
  'test/page/*.test.ts',
];

/**
 * The tests of the API over its server also run over the fetch handler, and over an ordinary Koa app. `recorded` compares 500
 * responses of all, so in the gate only what a carrier does by itself is run over the others too: bodies, failures, addresses,
 * and random requests.
 */
const OVER_OTHERS = IS_WHOLE
  ? [
      'test/adapters/http/{authentication,bad-message,body,every-storage}.test.ts',
      'test/adapters/http/{failure,get,keys-in-log,list}.test.ts',
      'test/adapters/http/{openapi-document,overload,pipelines,properties,public-paths,public-url,rate-limit}.test.ts',
      'test/adapters/http/{host-code,recorded}.test.ts',
      'test/adapters/http/{request-fields,request-log,slow-client,tunnels}.test.ts',
    ]
  : ['test/adapters/http/{body,failure,host-code,properties,recorded,request-fields}.test.ts'];

/**
 * These tests take the attributes of pets from `ATTRIBUTES`: they are run with an attribute of each kind, too. In the gate, the
 * columns, filters and pages of PostgreSQL and of the client are, and at night their contracts. `npm run test:copy` runs them.
 */
const OF_ANY_ATTRIBUTES = [
  'test/entity/*.test.ts',
  `test/adapters/{memory,sqlite${IS_WHOLE ? ',postgres,api-client' : ''}}/contracts.test.ts`,
  'test/adapters/{sqlite,postgres}/attributes.test.ts',
  'test/adapters/http/{changes,every-storage,invalid-pets,properties}.test.ts',
  'test/adapters/{sqlite/pet-repository,postgres/plans}.test.ts',
  'test/application/{filters,list-query}.test.ts',
  'test/composition/pets-command.test.ts',
  'test/domain/{attribute,invalid-pets,pet,pet-change,pet-filter,pet-json}.test.ts',
];

const ADAPTERS = {
  setupFiles: ['test/support/canary-setup.ts'],
  env: { NODE_COMPILE_CACHE: COMPILE_CACHE },
  // On a busy machine, a start takes a hundred times as long as on a quiet one.
  testTimeout: 120_000,
  hookTimeout: 120_000,
  expect: { poll: { timeout: 100_000 } },
  sequence: { groupOrder: 0 },
};

/** These tests generate projects with `npm run new`, and compile them. `npm run test:copy` runs them. */
const GENERATED = 'test/new/{command,project,words}.test.ts';

/** A server reads the OpenAPI document, which the setup builds. The command must have been built before the tests. */
const DOCS = 'test/support/built-docs.ts';
const FRESH_BUILD = 'test/support/fresh-build.ts';
const SERVICES = [DOCS, 'test/support/postgres/global-setup.ts'];

/** A run ends when these end, so they begin first. Of files that it does not know, Vitest begins with the largest ones. */
const LONGEST =
  /test\/(?:new\/(?:project|command|words)|adapters\/(?:sqlite|postgres|api-client)\/(?:contracts|pet-transfer|outage)|e2e\/log)\.test\.ts$/;

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const [all, isLong] = [await super.sort(files), (file: TestSpecification) => LONGEST.test(file.moduleId)];
    return [...all.filter(isLong), ...all.filter((file) => !isLong(file))];
  }
}

const config: ViteUserConfig = defineConfig({
  test: {
    // Most tests wait for a process, a socket or a disk, so more workers than cores save time.
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    reporters: ['default', new SummaryLine()],
    projects: [
      {
        test: {
          name: 'core',
          include: [CORE],
          // The start of another worker would take longer than half of these tests.
          isolate: false,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
      { test: { ...ADAPTERS, name: 'shared', include: SHARED, isolate: false, globalSetup: DOCS } },
      ...['fetch', 'stock-koa'].map((carrier) => ({
        test: {
          ...ADAPTERS,
          name: carrier,
          include: OVER_OTHERS,
          // These need the statistics of a server, or the method TRACE, which a `Request` cannot have.
          exclude:
            carrier === 'fetch' ? ['test/adapters/http/{openapi-document,overload,rate-limit}.test.ts'] : [],
          isolate: false,
          globalSetup: DOCS,
          env: { ...ADAPTERS.env, TEST_CARRIER: carrier, TEST_STORAGES: 'memory' },
        },
      })),
      {
        test: {
          ...ADAPTERS,
          name: 'adapters',
          include: ['test/**/*.test.ts'],
          // Other packages, such as that of `npm run test:clients`, install theirs below this folder.
          exclude: [CORE, E2E, ...SHARED, GENERATED, 'test/entity/**', '**/node_modules/**'],
          globalSetup: SERVICES,
        },
      },
      { test: { ...ADAPTERS, name: 'new', include: [GENERATED] } },
      {
        plugins: [inCopy],
        test: {
          ...ADAPTERS,
          name: 'entity',
          env: { ...ADAPTERS.env, TEST_ATTRIBUTES: 'each kind' },
          include: OF_ANY_ATTRIBUTES,
          globalSetup: [...SERVICES, 'test/entity/entity.ts'],
        },
      },
      {
        test: {
          ...ADAPTERS,
          name: 'e2e',
          include: [E2E],
          globalSetup: [FRESH_BUILD, ...SERVICES],
          retry: RETRY,
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['{openapi,page,src}/**/*.ts'],
      // These modules need a browser: test/clients/browser.clients.js tests them.
      exclude: ['page/{main.ts,view/**}'],
      thresholds: {
        statements: 95,
        'src/domain/**': { 100: true },
        'src/application/**': { 100: true },
      },
    },
  },
});

export default config;
