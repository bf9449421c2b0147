import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Without coverage and without the summary line: StrykerJS collects both itself. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    isolate: false,
    testTimeout: 30_000,
    env: { TEST_STORAGES: 'memory' },
  },
});

export default config;
