import { defineConfig, type ViteUserConfig } from 'vitest/config';
import { SummaryLine } from '../reporter.ts';
import { ofCommand } from '../support/suite.ts';

/** The promises that every change must keep: what survives kills, retries, stops and floods, and the response to each message. */
const PROMISES = faults('changes', 'crash', 'flood', 'messages', 'stopping');

/** These tests run on a quiet machine too, and then their times have limits. */
const LIMITED = faults('disk', 'flood', 'postgres');

const common = ofCommand({
  globalSetup: 'test/support/postgres/global-setup.ts',
  setupFiles: ['test/faults/setup.ts'],
  maxWorkers: 1,
});

const config: ViteUserConfig = defineConfig({
  test: {
    reporters: ['verbose', new SummaryLine()],
    projects: [
      { test: { ...common, name: 'promises', include: PROMISES } },
      { test: { ...common, name: 'faults', include: ['test/faults/*.faults.ts'], exclude: PROMISES } },
      { test: { ...common, name: 'limits', include: LIMITED, env: { FAULTS_LIMITS: 'true' } } },
    ],
  },
});

export default config;

function faults(...names: readonly string[]): string[] {
  return names.map((name) => `test/faults/${name}.faults.ts`);
}
