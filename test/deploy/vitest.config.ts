import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';

/** Runs one file at a time, because each file starts several programs. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/deploy/**/*.deploy.ts'],
    setupFiles: ['test/faults/setup.ts'],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ['verbose', new SummaryLine()],
  },
});

export default config;
