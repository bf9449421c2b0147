/** The core with the memory adapter is small, and uses nothing that only Node.js has. */

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { beforeAll, inject, test } from 'vitest';
import { HERE, run } from '../stage.ts';

/** In bytes. The client of the API, which a bundler can load on use, is a third of it: `test/library/client-bundle.test.ts`. */
const LIMIT = 40 * 1024;

const { installed } = inject('stage');
const bundle = join(installed, 'bundle.js');
beforeAll(async () => {
  const flags = ['--bundle', '--minify', '--platform=browser', '--global-name=core', `--outfile=${bundle}`];
  await run(join(HERE, 'node_modules/.bin/esbuild'), ['core.ts', ...flags], { cwd: installed });
});

test('the bundle for browsers is below 40 KB', () => {
  const { size } = statSync(bundle);
  assert.ok(size > 1000 && size < LIMIT, `${size} bytes`);
});

test('the bundle runs with only the Web platform', async () => {
  const context = createContext({
    AbortController,
    crypto,
    TextEncoder,
    setTimeout,
    setInterval,
    clearInterval,
  });
  runInContext(readFileSync(bundle, 'utf8'), context);
  const pets = await (runInContext('core.run()', context) as Promise<{ name: string }[]>);
  assert.equal(pets.map(({ name }) => name).join(), 'Rex');
});
