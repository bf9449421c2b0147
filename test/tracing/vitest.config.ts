import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';
import { RETRY } from '../support/retry.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/tracing/**/*.tracing.ts'],
    globalSetup: ['test/support/postgres/global-setup.ts'],
    setupFiles: ['test/support/canary-setup.ts'],
    retry: RETRY,
    testTimeout: 120_000,
    reporters: ['verbose', new SummaryLine()],
  },
});

export default config;
