import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** The tests of the real command, which `TEST_RUNTIME` runs. The tests themselves run on Node.js. */
const config: ViteUserConfig = defineConfig({
  test: {
    root: new URL('../..', import.meta.url).pathname,
    include: [
      'test/e2e/{serve,crash,disk,cli-keys,cli-output,restore,store-file}.test.ts',
      'test/faults/{stopping,two-servers,retries}.faults.ts',
    ],
    setupFiles: ['test/support/canary-setup.ts', 'test/faults/setup.ts'],
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 30_000,
    expect: { poll: { timeout: 20_000 } },
  },
});

export default config;
