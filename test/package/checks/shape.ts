/** attw finds no fault. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { inject, test } from 'vitest';
import { HERE, ROOT, readJson, run } from '../stage.ts';

test('attw finds no fault in any entry point', async () => {
  const attw = join(HERE, 'node_modules/.bin/attw');
  const args = [inject('stage').tarball, '--profile', 'esm-only', '--format', 'json'];
  const output = await run(attw, args, { cwd: HERE });
  const { analysis } = JSON.parse(output) as { analysis: Analysis };
  const { exports } = readJson<{ exports: object }>(join(ROOT, 'package.json'));
  assert.deepEqual(Object.keys(analysis.entrypoints).toSorted(), Object.keys(exports).toSorted());
});

interface Analysis {
  readonly entrypoints: Readonly<Record<string, unknown>>;
}
