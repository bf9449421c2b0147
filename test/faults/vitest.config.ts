import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';

/** One file at a time: two cores are for the server and its load. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/faults/**/*.faults.ts'],
    setupFiles: ['test/faults/setup.ts'],
    fileParallelism: false,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    reporters: ['verbose', new SummaryLine()],
  },
});

export default config;
