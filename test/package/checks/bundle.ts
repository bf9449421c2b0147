/** The core with the memory adapter is small, and uses nothing that only Node.js has. */

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createContext, runInContext } from 'node:vm';
import { HERE, run, stage } from '../stage.ts';

/** In bytes. */
const LIMIT = 22 * 1024;

const { installed } = stage();
const bundle = join(installed, 'bundle.js');
run(
  join(HERE, 'node_modules/.bin/esbuild'),
  ['core.ts', '--bundle', '--minify', '--platform=browser', '--global-name=core', `--outfile=${bundle}`],
  { cwd: installed },
);

test('the bundle for browsers is below 22 KB', (t) => {
  const { size } = statSync(bundle);
  t.diagnostic(`${size} bytes minified`);
  assert.ok(size > 1000 && size < LIMIT, `${size} bytes`);
});

test('the bundle runs with only the Web platform', async () => {
  const context = createContext({ crypto, TextEncoder, setTimeout, setInterval, clearInterval });
  runInContext(readFileSync(bundle, 'utf8'), context);
  const pets = await (runInContext('core.run()', context) as Promise<{ name: string }[]>);
  assert.equal(pets.map(({ name }) => name).join(), 'Rex');
});
