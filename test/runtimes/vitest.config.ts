import { defineConfig, type ViteUserConfig } from 'vitest/config';

const root = new URL('../..', import.meta.url).pathname;
const common = { root, hookTimeout: 120_000 };
const CANARY = `${root}test/support/canary-setup.ts`;
const FAULTS = `${root}test/faults/setup.ts`;

const config: ViteUserConfig = defineConfig({
  test: {
    projects: [
      {
        // What the API decides. What the server of a runtime decides is not in these files.
        test: {
          ...common,
          name: 'api',
          include: [
            'test/adapters/http/{authentication,body,create,every-path,every-storage,failure,get,keys-in-log,list}.test.ts',
            'test/adapters/http/{openapi-document,overload,properties,public-paths,public-url,rate-limit,request-id}.test.ts',
            'test/adapters/http/{incoming-bodies,request-log}.test.ts',
            'test/library/fetch.test.ts',
          ],
          setupFiles: [CANARY],
          env: { TEST_CARRIER: 'fetch', TEST_STORAGES: 'memory,sqlite' },
          maxWorkers: 2,
          testTimeout: 120_000,
          expect: { poll: { timeout: 100_000 } },
        },
      },
      {
        // The real command, which `TEST_RUNTIME` runs. The tests themselves run on Node.js.
        test: {
          ...common,
          name: 'command',
          include: [
            'test/e2e/{serve,disk,cli-keys,cli-output,workers}.test.ts',
            'test/faults/{crash,disk,stopping,two-servers,restore,retries,store-file}.faults.ts',
          ],
          setupFiles: [CANARY, FAULTS],
          // Most of these tests wait.
          maxWorkers: 3,
          testTimeout: 120_000,
          expect: { poll: { timeout: 100_000 } },
        },
      },
      {
        // What the server of the runtime decides, in the real command.
        test: {
          ...common,
          name: 'server',
          include: ['test/faults/messages.faults.ts'],
          setupFiles: [FAULTS],
          maxWorkers: 1,
          testTimeout: 120_000,
        },
      },
    ],
  },
});

export default config;
