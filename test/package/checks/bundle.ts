/** The core with the memory adapter, and the client, are small, and use nothing that only Node.js has. */

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { beforeAll, inject, test } from 'vitest';
import { HERE, run } from '../stage.ts';

/** In bytes. The client of the API, which a bundler can load on use, is a third of it. */
const LIMIT = 32 * 1024;

/** In bytes, compressed. */
const CLIENT_LIMIT = 8000;

const { installed } = inject('stage');
const bundle = join(installed, 'bundle.js');
beforeAll(async () => {
  const flags = ['--bundle', '--minify', '--platform=browser', '--global-name=core', `--outfile=${bundle}`];
  await run(join(HERE, 'node_modules/.bin/esbuild'), ['core.ts', ...flags], { cwd: installed });
});

test('the bundle for browsers is below 32 KB', () => {
  const { size } = statSync(bundle);
  assert.ok(size > 1000 && size < LIMIT, `${size} bytes`);
});

test('the bundle of the client is below 8 kB, compressed', async () => {
  const file = join(installed, 'client.bundle.js');
  const entry = join(installed, 'node_modules/animal-store/dist/library/client.js');
  const flags = ['--bundle', '--minify', '--format=esm', '--platform=browser', `--outfile=${file}`];
  await run(join(HERE, 'node_modules/.bin/esbuild'), [entry, ...flags], { cwd: installed });
  const { length } = gzipSync(readFileSync(file), { level: 9 });
  assert.ok(length > 1000 && length <= CLIENT_LIMIT, `${length} bytes`);
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
