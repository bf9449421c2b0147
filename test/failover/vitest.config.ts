import type { ViteUserConfig } from 'vitest/config';
import { suite } from '../support/suite.ts';

const config: ViteUserConfig = suite({
  include: ['test/failover/*.faults.ts'],
  globalSetup: ['test/failover/packages.ts'],
  setupFiles: ['test/faults/setup.ts'],
});

export default config;
