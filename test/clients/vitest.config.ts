import type { ViteUserConfig } from 'vitest/config';
import { suite } from '../support/suite.ts';

const config: ViteUserConfig = suite({
  include: ['test/clients/*.clients.js'],
  setupFiles: [`${import.meta.dirname}/../faults/setup.ts`],
  // The page has a time limit, so nothing runs beside the browser.
  maxWorkers: 1,
  testTimeout: 240_000,
});

export default config;
