import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';
import { RETRY } from '../support/retry.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/failover/*.faults.ts'],
    globalSetup: ['test/failover/packages.ts'],
    setupFiles: ['test/faults/setup.ts'],
    retry: RETRY,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['verbose', new SummaryLine()],
  },
});

export default config;
