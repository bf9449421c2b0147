/**
 * Mutation tests: StrykerJS changes one expression of src/ at a time and expects a test to fail. Each area is tested only
 * by the tests that belong to it, and has its own threshold: the least percentage of mutants that tests must detect.
 */

/** Tests of slow and broken clients take seconds. They would have to run for each mutant of the API that survives. */
const SOCKET_TESTS = ['lingering-close', 'pipelines', 'slow-client', 'stopping', 'tunnels'].map(
  (name) => `test/adapters/http/${name}.test.ts`,
);

const AREAS = {
  core: {
    mutate: ['src/{domain,application}/**/*.ts'],
    testFiles: ['test/{domain,application}/**/*.test.ts'],
    threshold: 97,
  },
  http: {
    mutate: ['src/adapters/http/**/*.ts', '!src/adapters/http/node/**'],
    testFiles: ['test/adapters/http/**/*.test.ts', ...SOCKET_TESTS.map((file) => `!${file}`)],
    threshold: 90,
  },
  sockets: {
    mutate: ['src/adapters/http/node/*.ts'],
    testFiles: [...SOCKET_TESTS, 'test/adapters/http/{bad-message,malformed-request}.test.ts'],
    threshold: 90,
  },
  // Stryker selects the active mutant on the main thread, so it cannot test the entry point of the writer thread.
  sqlite: {
    mutate: ['src/adapters/sqlite/**/*.ts', '!src/adapters/sqlite/writer-thread.ts'],
    testFiles: ['test/adapters/sqlite/**/*.test.ts'],
    threshold: 85,
  },
};

/** The configuration of StrykerJS for one area. */
export function configOf(area) {
  const { mutate, testFiles, threshold } = AREAS[area];
  return {
    mutate,
    testFiles,
    testRunner: 'vitest',
    vitest: { configFile: 'test/mutation/vitest.config.ts' },
    ignoreStatic: true,
    concurrency: 2,
    thresholds: { high: 100, low: threshold, break: threshold },
    reporters: ['clear-text', 'progress'],
    clearTextReporter: { reportTests: false },
    cleanTempDir: 'always',
    ignorePatterns: ['/bench', '/coverage', '/data', '/docs/api'],
  };
}
