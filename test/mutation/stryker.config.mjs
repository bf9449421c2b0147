/** The configuration of StrykerJS for the area in the environment variable `AREA`. */

import { AREAS } from './areas.mjs';

const { mutate, testFiles, threshold } = AREAS[process.env.AREA ?? 'core'];

export default {
  mutate,
  testFiles,
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.mjs' },
  ignoreStatic: true,
  concurrency: 2,
  // A mutant that survives runs all tests of its area. On a busy machine, this must not count as a detection.
  timeoutMS: 60_000,
  thresholds: { high: 100, low: threshold, break: threshold },
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { reportTests: false },
  cleanTempDir: 'always',
  ignorePatterns: ['/bench', '/coverage', '/data', '/docs/api'],
};
