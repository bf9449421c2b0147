import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';
import { RETRY } from '../support/retry.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/clients/*.clients.js'],
    // The page has a time limit, so nothing runs beside the browser.
    maxWorkers: 1,
    retry: RETRY,
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    reporters: ['verbose', new SummaryLine()],
  },
});

export default config;
