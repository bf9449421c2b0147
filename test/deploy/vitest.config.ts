import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';
import { RETRY } from '../support/retry.ts';

/** Most tests wait for the programs that they start, so several files run at the same time. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/deploy/**/*.deploy.ts'],
    setupFiles: ['test/faults/setup.ts'],
    maxWorkers: 3,
    retry: RETRY,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['verbose', new SummaryLine()],
  },
});

export default config;
