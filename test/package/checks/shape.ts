/** publint and attw find no fault. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { HERE, run, stage } from '../stage.ts';

const { tarball } = stage();

test('publint finds no fault', () => {
  const output = run(tool('publint'), ['run', tarball, '--strict'], { cwd: HERE });
  assert.match(output, /All good!/);
});

test('attw finds no fault in any entry point', () => {
  const output = run(tool('attw'), [tarball, '--profile', 'esm-only', '--format', 'json'], { cwd: HERE });
  const { analysis } = JSON.parse(output) as { analysis: Analysis };
  assert.deepEqual(Object.keys(analysis.entrypoints).toSorted(), [
    '.',
    './client',
    './fetch',
    './http',
    './memory',
    './package.json',
    './postgres',
    './sqlite',
    './testing',
  ]);
});

interface Analysis {
  readonly entrypoints: Readonly<Record<string, unknown>>;
}

function tool(name: string): string {
  return join(HERE, 'node_modules/.bin', name);
}
