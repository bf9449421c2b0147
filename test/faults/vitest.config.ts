import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';

/** These tests measure times, or need both cores: the server takes one, and its load takes the other. */
const LOAD = ['connections', 'crowds', 'floods', 'messages', 'overload', 'soak', 'storage', 'unread'].map(
  (name) => `test/faults/${name}.faults.ts`,
);

const common = {
  globalSetup: ['test/support/postgres/global-setup.ts'],
  setupFiles: ['test/faults/setup.ts'],
  testTimeout: 60_000,
  expect: { poll: { timeout: 20_000 } },
  hookTimeout: 60_000,
};

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['verbose', new SummaryLine()],
    projects: [
      {
        test: { ...common, name: 'load', include: LOAD, maxWorkers: 1, sequence: { groupOrder: 0 } },
      },
      {
        // The other tests mostly wait, so several files run at the same time.
        test: {
          ...common,
          name: 'faults',
          include: ['test/faults/*.faults.ts'],
          exclude: LOAD,
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

export default config;
