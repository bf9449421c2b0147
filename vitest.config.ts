import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from './test/reporter.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/postgres/global-setup.ts'],
    setupFiles: ['test/support/canary-setup.ts'],
    testTimeout: 30_000,
    reporters: ['default', new SummaryLine()],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      // These modules need a browser: test/clients/browser.js tests them.
      exclude: ['src/adapters/http/docs/page/{main.ts,view/**}'],
      thresholds: {
        statements: 95,
        'src/domain/**': { 100: true },
        'src/application/**': { 100: true },
      },
    },
  },
});

export default config;
