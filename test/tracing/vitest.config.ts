import type { ViteUserConfig } from 'vitest/config';
import { suite } from '../support/suite.ts';

const config: ViteUserConfig = suite({
  include: ['test/tracing/**/*.tracing.ts'],
  globalSetup: ['test/support/postgres/global-setup.ts'],
  setupFiles: ['test/support/canary-setup.ts'],
});

export default config;
