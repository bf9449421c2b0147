import type { ViteUserConfig } from 'vitest/config';
import { suite } from '../support/suite.ts';

/** Most tests wait for the programs that they start, so several files run at the same time. */
const config: ViteUserConfig = suite({
  include: ['test/deploy/**/*.deploy.ts'],
  setupFiles: ['test/faults/setup.ts'],
  maxWorkers: 3,
});

export default config;
