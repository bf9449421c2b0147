import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';
import { RETRY } from '../support/retry.ts';

const config: ViteUserConfig = defineConfig({
  test: {
    include: ['test/runtimes/*.runtimes.ts'],
    // The example for Next.js opens its store in the working directory.
    pool: 'forks',
    // Node.js itself imports the installed examples.
    server: { deps: { external: [/animal-store-runtimes-/] } },
    retry: RETRY,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 100_000 } },
    reporters: ['verbose', new SummaryLine()],
  },
});

export default config;
