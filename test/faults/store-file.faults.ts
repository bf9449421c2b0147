/** Moves the files of a server while clients create pets. */

import { mkdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../support/clock.ts';
import { READY, readinessOf, stateLines, untilReadinessIs } from '../support/faults.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { ClientGroup, createOf } from './client/clients.ts';
import { exportOf } from './commands.ts';
import { ROUNDS } from './options.ts';
import { canonicalPet } from './oracle/pet.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

const WRITERS = 8;

/** Each round moves the file of the store, or its folder. */
const MOVED: readonly ((folder: string) => string)[] = [
  (folder) => join(folder, 'pets.db'),
  (folder) => folder,
];

test(`the files are renamed and renamed back under load, ${ROUNDS} times: nothing is lost`, {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  const folder = join(temporaryFolder(), 'data');
  mkdirSync(folder);
  const server = await FaultsServer.start({ folder, logLevel: 'info' });
  const group = new ClientGroup({
    origin: server.origin,
    key: OPERATOR_KEY,
    clients: WRITERS,
    next: (client, count) => createOf(`${'x'.repeat(200)} ${client}.${count}`),
  });
  onTestFinished(() => void group.stop());
  const { pets, failures } = group.outcomes;
  for (let round = 0; round < ROUNDS; round++) {
    const moved = MOVED[round % MOVED.length]?.(folder) ?? '';
    const [acknowledged, refused] = [pets.length, failures.length];
    await until(() => pets.length > acknowledged + 50);
    const away = join(dirname(folder), 'away');
    renameSync(moved, away);
    await until(() => failures.length > refused + 50);
    for (let times = 0; times < 3; times++) {
      await sleep(300);
      expect((await readinessOf(server)).body).toMatch(/"reason":"file_(missing|replaced)"/);
      for (const target of ['/v1/pets', '/v1/pets/1']) {
        expect(await server.client.get(target)).toMatchObject({ status: 503 });
      }
    }
    renameSync(away, moved);
    await untilReadinessIs(server, READY);
  }
  await group.stop();
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  printTable('Files renamed under load', [
    ['rounds', 'acknowledged', 'refused'],
    [ROUNDS, pets.length, failures.length],
  ]);
  const stored = new Set((await exportOf(folder)).map(canonicalPet));
  expect(
    pets.filter((pet) => !stored.has(canonicalPet(pet))),
    BROKEN_PROMISE,
  ).toEqual([]);
  expect(failures.filter((failure) => !failure.includes(': 503 {"code":"storage_unavailable"'))).toEqual([]);
  expect(stateLines(server).at(-1)?.level).toBe(30);
});
