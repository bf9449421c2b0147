/**
 * Kills two servers of one file, repeatedly, while clients create pets: with idempotency keys, which they retry until they
 * have a response, also with both servers at once, and without keys. `changes.faults.ts` has the order of all writes.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { randomNumbers } from '../../src/testing/random.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { ClientGroup, createOf, LOST } from './client/clients.ts';
import { damageOf, Load, NO_DAMAGE } from './client/load.ts';
import { exportOf, idOf, nameOf } from './commands.ts';
import { ROUNDS, SEED } from './options.ts';
import { startFaultsServer } from './server.ts';
import { printTable } from './table.ts';

/** The clients that send no idempotency key, and the start of the names of their pets. */
const CLIENTS = 32;
const ONCE = 'once ';

test(`through ${ROUNDS} kills of seed ${SEED}, no acknowledged pet is lost, and each idempotency key has one pet and one response`, {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  const random = randomNumbers(SEED);
  const folder = temporaryFolder();
  const ports = [await freePort(), await freePort()];
  const start = (at: number) => startFaultsServer({ folder, port: ports[at] as number });
  const servers = [await start(0), await start(1)];
  const load = new Load(ports, { isKilled: true });
  const group = new ClientGroup({
    origin: `http://127.0.0.1:${ports[0]}`,
    clients: CLIENTS,
    next: (client, count) => createOf(`${ONCE}${client}.${count}`),
    pause: () => 5,
  });
  const { pets, failures } = group.outcomes;
  for (let round = 0; round < ROUNDS; round++) {
    const acknowledged = pets.length;
    await expect.poll(() => pets.length, { interval: 5 }).toBeGreaterThan(acknowledged);
    await sleep(random(1000));
    const kill = async (at: number) => {
      expect(await servers[at]?.kill()).toEqual({ code: null, signal: 'SIGKILL' });
      servers[at] = await start(at);
    };
    await Promise.all((random(2) === 0 ? [0, 1] : [round % 2]).map(kill));
  }
  await group.stop();
  await load.stop();
  await Promise.all(servers.map((server) => server.kill()));

  const exported = await exportOf(folder);
  const isOfKey = (pet: string) => !nameOf(pet).startsWith(ONCE);
  const withKey = exported.filter(isOfKey).map((pet) => ({ id: String(idOf(pet)), name: nameOf(pet) }));
  const stored = new Set(exported);
  printTable(`Kills, seed ${SEED}`, [
    ['kills', 'keys', 'their pets', 'sent again', 'acknowledged without a key', 'stored'],
    [ROUNDS, load.acknowledged.size, withKey.length, load.refused, pets.length, stored.size],
  ]);
  // Connections can be lost, but the servers must not refuse requests.
  expect([...load.faults, ...failures.filter((failure) => !failure.includes(LOST))]).toEqual([]);
  const lost = pets.filter((pet) => !stored.has(pet));
  expect(lost, BROKEN_PROMISE).toEqual([]);
  expect(damageOf([...load.acknowledged], withKey), BROKEN_PROMISE).toEqual(NO_DAMAGE);
  expect(withKey, BROKEN_PROMISE).toHaveLength(load.acknowledged.size);
  const ids = exported.map(idOf);
  expect(ids, BROKEN_PROMISE).toEqual([...new Set(ids)].toSorted((one, other) => one - other));
  expect(load.refused).toBeGreaterThan(0);
});
