import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** The tests of what the API decides. What the server of a runtime decides is not in these files. */
const config: ViteUserConfig = defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      'test/adapters/http/{authentication,body,create,every-path,every-storage,failure,get,keys-in-log,list}.test.ts',
      'test/adapters/http/{openapi-document,overload,properties,public-paths,public-url,rate-limit,request-id}.test.ts',
      'test/adapters/http/{incoming-bodies,request-log}.test.ts',
      'test/library/fetch.test.ts',
    ],
    setupFiles: ['test/support/canary-setup.ts'],
    env: { TEST_CARRIER: 'fetch', TEST_STORAGES: 'memory,sqlite' },
    maxWorkers: 2,
    testTimeout: 10_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 5000 } },
  },
});

export default config;
