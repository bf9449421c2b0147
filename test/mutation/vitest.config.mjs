import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { inMemory } from '../entity/entity.ts';
import { AREAS } from './areas.mjs';

const {
  testTimeout = 30_000,
  needsPostgres = false,
  hasEachKind = false,
  preload = [],
  carrier = 'koa',
} = AREAS[process.env.AREA ?? 'core'];

/** Runs small test files first, because the first test that fails detects the mutant. */
class SmallestFirst extends BaseSequencer {
  async sort(files) {
    return (await super.sort(files)).reverse();
  }
}

/**
 * Without coverage and without the summary line: StrykerJS collects both itself. Many mutants make a test wait forever.
 * A timeout of the test detects them earlier than the timeout of StrykerJS, which also restarts the process.
 */
export default defineConfig({
  plugins: hasEachKind ? [inMemory] : [],
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: needsPostgres ? ['test/support/postgres/global-setup.ts'] : [],
    setupFiles: preload,
    isolate: false,
    testTimeout,
    hookTimeout: testTimeout,
    expect: { poll: { timeout: testTimeout } },
    // Without the cache, the sequencer knows the sizes of the files, but not their durations.
    cache: false,
    sequence: { sequencer: SmallestFirst },
    env: {
      ...(!needsPostgres && { TEST_STORAGES: 'memory' }),
      PROPERTY_RUNS: '1',
      TEST_EXTENT: 'short',
      TEST_CARRIER: carrier,
      ...(hasEachKind && { TEST_ATTRIBUTES: 'each kind' }),
    },
  },
});
