/** The examples of the documentation work as described. */

import assert from 'node:assert/strict';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, inject, onTestFinished, test } from 'vitest';
import type { AnimalStore } from '../../../src/library/index.ts';
import { checkApi } from '../../support/api-check.ts';
import { wholeJson } from '../../support/pets.ts';
import { HERE, install, ROOT, readJson, run } from '../stage.ts';

/** The other packages of programs that mount the API, in the versions of the lock files. */
const HOSTS = ['koa', 'express', 'fastify', '@types/express'];

const { folder, tarball } = inject('stage');
const hosting = join(folder, 'hosting');
const tsc = join(ROOT, 'node_modules/.bin/tsc');

const MOUNTED = globSync('*.ts', { cwd: join(ROOT, 'examples/mounting') });

beforeAll(async () => {
  await install(folder, 'hosting', tarball, ...HOSTS.map((name) => `${name}@${versionOf(name)}`));
  cpSync(join(ROOT, 'examples'), hosting, { recursive: true });
});

test.each(['docs/adapter.md', 'docs/mounting.md'])('%s shows parts of examples word for word', (manual) => {
  const files = globSync('{json-file-adapter,mounting}/*.ts', { cwd: hosting });
  const sources = files.map((file) => readFileSync(join(hosting, file), 'utf8'));
  const shown = [...readFileSync(join(ROOT, manual), 'utf8').matchAll(/^```ts\n(.*?)^```$/gms)].map(
    ([, code = '']) => code,
  );
  assert.ok(shown.length > 0);
  for (const code of shown)
    assert.ok(
      sources.some((source) => source.includes(code)),
      code,
    );
});

test('the examples of mounting are well typed', async () => {
  const options = ['--strict', '--exactOptionalPropertyTypes', '--noEmit', '--skipLibCheck'];
  assert.ok(MOUNTED.length > 4);
  const files = MOUNTED.map((name) => `mounting/${name}`);
  await run(tsc, [...options, '--target', 'es2023', '--module', 'nodenext', '--types', 'node', ...files], {
    cwd: hosting,
  });
});

test('the files that docs/adapter.md names compile in a project of `npm init` and `tsc --init`, pass their suites, and main.ts serves them', async () => {
  const project = join(folder, 'adapter');
  const copy = (name: string) => cpSync(join(ROOT, 'examples/json-file-adapter', name), join(project, name));
  for (const name of ['contract.ts', 'json-file.ts']) copy(name);
  await run('npm', ['init', '--yes'], { cwd: project });
  await run('npm', ['pkg', 'set', 'type=module'], { cwd: project });
  const types = `@types/node@${versionOf('@types/node')}`;
  await run('npm', ['install', '--prefer-offline', tarball, types], { cwd: project });
  await run(tsc, ['--init', '--types', 'node'], { cwd: project });
  await run(tsc, [], { cwd: project });
  const output = await run(process.execPath, ['--test', 'contract.js'], { cwd: project });
  assert.match(output, /pass [1-9]\d\n/);
  copy('main.ts');
  await run(tsc, [], { cwd: project });
  const served = await run(process.execPath, ['main.js', 'pets.json'], { cwd: project });
  assert.equal(served, wholeJson('[{"id":1,"name":"Rex","categoryId":7,"status":"available"}]\n'));
  writeFileSync(join(project, 'damaged.json'), '[{');
  const open =
    "(await import('./json-file.js')).openJsonFile('damaged.json').catch(({ code }) => console.log(code))";
  assert.equal(await run(process.execPath, ['-e', open], { cwd: project }), 'storage_unavailable\n');
});

test.each(MOUNTED)('the API is mounted in %s', async (name) => {
  const library = join(hosting, 'node_modules/animal-store/dist/library/index.js');
  const { createAnimalStore } = (await import(
    pathToFileURL(library).href
  )) as typeof import('../../../src/library/index.ts');
  const { serve } = (await import(pathToFileURL(join(hosting, `mounting/${name}`)).href)) as Mounting;
  const store = await createAnimalStore({ database: 'memory:' });
  const { key } = await store.apiKeys.create('me');
  const server = await serve(store);
  onTestFinished(() => void server.close().closeAllConnections());
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await checkApi((target, init) => fetch(`${url}${target}`, init), key);
  assert.equal(await (await fetch(`${url}/`)).text(), 'the rest of the site');
});

interface Mounting {
  serve(store: AnimalStore): Promise<Server>;
}

function versionOf(name: string): string {
  const locked = [ROOT, join(ROOT, 'bench'), HERE].map(
    (folder) => readJson<LockFile>(join(folder, 'package-lock.json')).packages[`node_modules/${name}`],
  );
  const version = locked.find((entry) => entry !== undefined)?.version;
  if (version === undefined) throw new Error(`${name} is in no lock file`);
  return version;
}

interface LockFile {
  readonly packages: Readonly<Record<string, { readonly version: string }>>;
}
