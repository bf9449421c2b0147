/** The configuration of StrykerJS for the area in the environment variable `AREA`. */

import { AREAS } from './areas.mjs';

const {
  mutate,
  testFiles,
  threshold,
  mutatesTexts = false,
  timeoutMS = 5000,
} = AREAS[process.env.AREA ?? 'core'];

export default {
  mutate,
  testFiles,
  testRunner: 'vitest',
  // Some tests become another user, which only the main thread of a process can.
  vitest: { configFile: 'test/mutation/vitest.config.mjs', pool: 'forks', related: false },
  ignoreStatic: true,
  // Outside the core, a text is mostly a message or a statement of SQL.
  mutator: { excludedMutations: mutatesTexts ? [] : ['StringLiteral'] },
  concurrency: 2,
  timeoutMS,
  thresholds: { high: 100, low: threshold, break: threshold },
  reporters: ['clear-text', 'progress'],
  clearTextReporter: { reportTests: false },
  cleanTempDir: 'always',
  ignorePatterns: ['/bench', '/coverage', '/data', '/docs/api'],
};
