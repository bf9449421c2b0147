/** Imports, exports and backups of many pets: interrupted, and under load. */

import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { until } from '../support/clock.ts';
import { wholeJson } from '../support/pets.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { ClientGroup, createOf } from './client/clients.ts';
import { createStore, exportOf, idOf, nameOf, runCommand, startCommand } from './commands.ts';
import { FaultsServer } from './server.ts';

const PETS = 60_000;
const MANY = 200_000;
const CLIENTS = 8;
const TIMEOUT = { timeout: 120_000 };

test.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)(
  'an import that is interrupted by %s leaves the store unchanged',
  TIMEOUT,
  async (signal) => {
    const folder = temporaryFolder();
    await createStore(folder, 10, 'before');
    const before = await exportOf(folder);
    writeFileSync(
      join(folder, 'many'),
      wholeJson(`{"name":"${'x'.repeat(200)}","categoryId":1}\n`).repeat(MANY),
    );
    // The import stores pages before its commit, in a file of its own or in the write-ahead log of the store.
    const sizeOfFolder = () =>
      readdirSync(folder).reduce(
        (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
    const size = sizeOfFolder();
    const { child, exit, out } = startCommand(folder, ['import', 'many']);
    await until(() => sizeOfFolder() > size + 1_000_000 || child.exitCode !== null);
    child.kill(signal);
    const { code } = await exit;
    expect(code, out.stderr).toBe(signal === 'SIGKILL' ? null : 1);
    expect(await exportOf(folder), BROKEN_PROMISE).toEqual(before);
    const server = await FaultsServer.start({ folder });
    expect(JSON.parse((await server.client.get('/v1/pets')).body)).toHaveLength(10);
    await server.stop();
  },
);

test('a backup that is killed leaves no file at its target', TIMEOUT, async () => {
  const folder = temporaryFolder();
  await createStore(folder, MANY, 'x'.repeat(200));
  const killed = async (): Promise<number | null> => {
    const { child, exit } = startCommand(folder, ['backup', 'copy.db']);
    await until(() => readdirSync(folder).some((name) => name.startsWith('copy.db')));
    child.kill('SIGKILL');
    return (await exit).code;
  };
  // A backup that ended before the signal arrived is repeated.
  await until(async () => {
    rmSync(join(folder, 'copy.db'), { force: true });
    return (await killed()) !== 0;
  });
  expect(existsSync(join(folder, 'copy.db'))).toBe(false);
});

test(
  `while ${CLIENTS} clients create pets, exports are snapshots, backups are complete, and an import only delays`,
  TIMEOUT,
  async () => {
    const folder = temporaryFolder();
    await createStore(folder, PETS, 'Rex');
    const { origin } = await FaultsServer.start({ folder });
    const load = new ClientGroup({
      origin,
      key: OPERATOR_KEY,
      clients: CLIENTS,
      next: () => createOf('Rex'),
    });
    const { pets, failures } = load.outcomes;
    await until(() => pets.length > 50);
    for (let times = 0; times < 3; times++) {
      const known = Math.max(...pets.map(idOf));
      const ids = (await exportOf(folder)).map(idOf);
      expect(ids.length).toBeGreaterThanOrEqual(known);
      expect(
        ids.every((id, index) => id === index + 1),
        BROKEN_PROMISE,
      ).toBe(true);
    }
    for (const name of ['first.db', 'second.db']) {
      const known = pets.map(idOf);
      await runCommand(folder, ['backup', name]);
      const copy = new Database(join(folder, name), { readonly: true });
      expect(copy.pragma('integrity_check', { simple: true })).toBe('ok');
      const stored = new Set(copy.prepare('SELECT id FROM pets').pluck().all());
      copy.close();
      expect(
        known.filter((id) => !stored.has(id)),
        BROKEN_PROMISE,
      ).toEqual([]);
    }
    expect(failures).toEqual([]);
    await runCommand(folder, ['import', '-'], wholeJson('{"name":"imported","categoryId":1}\n').repeat(PETS));
    await load.stop();
    expect(failures.filter((failure) => !failure.includes('"storage_unavailable"'))).toEqual([]);
    const exported = await exportOf(folder);
    expect(exported, BROKEN_PROMISE).toHaveLength(2 * PETS + pets.length);
    const imported = exported.filter((line) => nameOf(line) === 'imported').map(idOf);
    expect(imported).toHaveLength(PETS);
    expect((imported.at(-1) ?? 0) - (imported[0] ?? 0)).toBe(PETS - 1);
  },
);
