import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support/process.ts';

const ROOT = join(import.meta.dirname, '..');

/** Runs twelve tests, of which the second does what the code says. Returns the last lines. */
function lastLinesOf(code: string, ...options: readonly string[]): string[] {
  const folder = temporaryFolder();
  writeFileSync(
    join(folder, 'sample.test.ts'),
    `test('first', () => {});\ntest('second', async () => { ${code} });\n${"test('other', () => {});\n".repeat(10)}`,
  );
  writeFileSync(
    join(folder, 'vitest.config.ts'),
    `import { SummaryLine } from '${ROOT}/test/reporter.ts';
    export default { test: { globals: true, reporters: [new SummaryLine()] } };`,
  );
  const args = [join(ROOT, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, ...options];
  const env = { ...process.env, CI: 'true', NO_COLOR: '1' };
  return spawnSync(process.execPath, args, { env, encoding: 'utf8' }).stdout.trimEnd().split('\n').slice(-2);
}

test.each([
  ['a test fails', 'throw new Error();', [], '11 passed, 1 failed'],
  [
    'a run ends at the first failure',
    'throw new Error();',
    ['--bail=1'],
    'NOT RUN 10 tests\n1 passed, 1 failed',
  ],
  // On a busy machine, the first test can have been reported before the process dies.
  [
    'a process dies',
    "process.kill(process.pid, 'SIGKILL');",
    [],
    'NOT RUN 1[12] tests\n[01] passed, 1 failed',
  ],
  [
    'it is cut off',
    "process.kill(process.ppid, 'SIGTERM'); await new Promise(() => {});",
    [],
    'CUT OFF.*\n[01] passed, 1 failed',
  ],
  ['only some are chosen', '', ['-t', 'first'], '1 passed, 0 failed, 11 skipped'],
])('the last line counts failures once when %s', { timeout: 600_000 }, (_, code, options, expected) => {
  expect(lastLinesOf(code, ...options).join('\n')).toMatch(new RegExp(`(^|\n)${expected}$`));
});
