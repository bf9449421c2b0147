import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { runCommand } from '../support/process.ts';

const ROOT = `${import.meta.dirname}/../..`;

test('npm run demo shows that its four promises hold, and prints what the README shows', {
  timeout: 300_000,
}, async () => {
  const { out, exit } = runCommand(process.execPath, ['scripts/demo.ts'], { cwd: ROOT });
  expect(await exit, out.stderr).toEqual({ code: 0, signal: null });
  expect(out.stdout.match(/^ {2}=> .*$/gm)).toEqual([
    '  => there is one pet',
    '  => no digit is lost',
    '  => each pet was created once, and seen once, in the order of the ids',
    '  => no change is lost, and each happened once',
  ]);
  expect(out.stderr).toBe('');
  const [, shown = ''] = /^```text\n(1\. .*?)^```$/ms.exec(readFileSync(`${ROOT}/README.md`, 'utf8')) ?? [];
  const printed = out.stdout.split('\n');
  const lines = shown.split('\n').filter((line) => line !== '');
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.filter((line) => !printed.includes(line))).toEqual([]);
});
