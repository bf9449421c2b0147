import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';
import { RETRY } from '../support/retry.ts';

/** The checks of `contents.ts` need nothing but the root's packages. The others need those of this folder. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/package/checks/*.ts'],
    globalSetup: ['test/package/stage.ts'],
    // One file waits for npm most of the time, so the others run beside it.
    maxWorkers: 2,
    retry: RETRY,
    testTimeout: 900_000,
    hookTimeout: 900_000,
    reporters: ['verbose', new SummaryLine()],
  },
});

export default config;
