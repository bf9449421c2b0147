/** Runs the examples that keep a copy of the pets, through their own crashes and a restore of the server. */

import { randomInt } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { CHANGING_SETTINGS } from '../support/lifecycle.ts';
import { withRequired } from '../support/pets.ts';
import { runBin, runCommand, temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { startServer } from './server.js';
import { startUnreliable } from './unreliable.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** More than a page of the examples has. */
const PETS = 130;

test.each([
  ['copy.py', 'python3'],
  ['copy.js', process.execPath],
])(
  'examples/follow/%s keeps an exact copy, through lost connections, kill -9 and a restore',
  async (file, program) => {
    const folder = temporaryFolder();
    const environment = {
      DATABASE_URL: `sqlite:${folder}/store.db`,
      ...CHANGING_SETTINGS,
      PORT: String(randomInt(20_000, 30_000)),
      API_KEYS: 'the-key-of-the-tests-of-the-copy-example',
    };
    const start = async () => {
      const { origin, stop } = await startServer(environment);
      return { api: apiOf(`${origin}/v1`, environment.API_KEYS), origin, stop };
    };
    let server = await start();
    const proxy = await startUnreliable(server.origin);
    const copy = join(folder, 'copy.db');
    const follow = () => {
      const variables = { ANIMAL_STORE_URL: `${proxy.origin}/v1`, ANIMAL_STORE_KEY: environment.API_KEYS };
      const env = { ...process.env, ...variables };
      const { child, exit } = runCommand(program, [`examples/follow/${file}`, copy], { cwd: ROOT, env });
      return async () => {
        child.kill('SIGKILL');
        await exit;
      };
    };
    const run = async (...args) =>
      expect(await runBin(args, { env: environment }).exit).toEqual({ code: 0, signal: null });
    const isExact = async () => {
      const pets = await server.api.list();
      await expect.poll(() => copied(copy), { timeout: 60_000, message: BROKEN_PROMISE }).toEqual(pets);
    };

    for (let number = 1; number <= PETS; number += 1) await server.api.create(`Rex ${number}`);
    await server.api.change(1, { name: 'Tom' });
    await server.api.remove(2);
    let kill = follow();
    await isExact();
    await server.api.change(3, { status: 'sold' });
    await server.api.remove(4);
    await server.api.create('Kim');
    await isExact();

    await kill();
    await server.api.change(5, { name: 'while the follower was down' });
    await server.api.remove(6);
    kill = follow();
    await isExact();

    await run('backup', join(folder, 'backup.db'));
    await server.api.create('forgotten by the restore');
    await server.api.remove(7);
    await server.api.change(8, { name: 'forgotten, too' });
    await isExact();
    await server.stop();
    await run('restore', '--force', join(folder, 'backup.db'));
    server = await start();
    // As many writes as were forgotten.
    for (const id of [9, 10, 11]) await server.api.remove(id);
    await isExact();
    await kill();
  },
);

function apiOf(url, key) {
  const call = async (method, path, fields, body) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json', ...fields };
    const response = await fetch(url + path, { method, headers, body: body && JSON.stringify(body) });
    expect(response.ok, `${method} ${path}: ${response.status}`).toBe(true);
    return response;
  };
  return {
    create: (name) => call('POST', '/pets', {}, withRequired({ name, categoryId: 7 })),
    change: (id, change) => call('PATCH', `/pets/${id}`, { 'If-Match': '*' }, change),
    remove: (id) => call('DELETE', `/pets/${id}`, { 'If-Match': '*' }),
    async list() {
      const pets = [];
      for (let after = 0; ; after = pets.at(-1).id) {
        const page = await (await call('GET', `/pets?limit=100&after=${after}`)).json();
        pets.push(...page);
        if (page.length < 100) return pets;
      }
    },
  };
}

function copied(file) {
  if (!existsSync(file)) return [];
  const db = new DatabaseSync(file, { readOnly: true });
  try {
    return db
      .prepare('SELECT json FROM pets ORDER BY id')
      .all()
      .map(({ json }) => JSON.parse(json));
  } catch {
    return []; // The program has not made the table yet, or is writing.
  } finally {
    db.close();
  }
}
