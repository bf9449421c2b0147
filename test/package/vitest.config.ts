import type { ViteUserConfig } from 'vitest/config';
import { suite } from '../support/suite.ts';

/** The checks of `contents.ts` need nothing but the root's packages. The others need those of this folder. */
const config: ViteUserConfig = suite({
  include: ['test/package/checks/*.ts'],
  globalSetup: ['test/package/stage.ts'],
  // One file waits for npm most of the time, so the others run beside it.
  maxWorkers: 2,
  testTimeout: 900_000,
  hookTimeout: 900_000,
});

export default config;
