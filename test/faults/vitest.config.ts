import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';

/** Runs one file at a time, because the server and its load need both cores. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/faults/**/*.faults.ts'],
    globalSetup: ['test/support/postgres/global-setup.ts'],
    setupFiles: ['test/faults/setup.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['verbose', new SummaryLine()],
  },
});

export default config;
