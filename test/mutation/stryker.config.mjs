/** The configuration of StrykerJS for the area in the environment variable `AREA`. */

import { AREAS } from './areas.mjs';

const { mutate, testFiles, threshold, timeoutMS = 5000 } = AREAS[process.env.AREA ?? 'core'];

export default {
  mutate,
  testFiles,
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.mjs' },
  ignoreStatic: true,
  concurrency: 2,
  timeoutMS,
  thresholds: { high: 100, low: threshold, break: threshold },
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { reportTests: false },
  cleanTempDir: 'always',
  ignorePatterns: ['/bench', '/coverage', '/data', '/docs/api'],
};
