/** Stops a server under load, repeatedly. No request of a client with an open connection may be lost. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { ClientGroup, createOf, LIST } from './client/clients.ts';
import { exportOf } from './commands.ts';
import { SEED, STOPS } from './options.ts';
import { Random } from './random.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

/** Half of the clients pause between two requests, for at most {@link MAX_PAUSE} milliseconds. */
const CLIENTS = 32;
const MAX_PAUSE = 300;
const STREAM = 0x73_746f_70;

test(`SIGTERM under load breaks no request of ${CLIENTS} clients, in ${STOPS} rounds of seed ${SEED}`, {
  timeout: 120_000 + STOPS * 20_000,
}, async () => {
  const random = new Random(SEED, STREAM);
  const folder = temporaryFolder();
  const acknowledged: string[] = [];
  const failures: string[] = [];
  const stopTimes: number[] = [];
  let requests = 0;
  for (let round = 0; round < STOPS; round++) {
    const server = await FaultsServer.start({ folder });
    const group = new ClientGroup({
      origin: server.origin,
      key: OPERATOR_KEY,
      clients: CLIENTS,
      next: (client, count) => (count % 2 === 0 ? createOf(`${round}.${client}.${count}`) : LIST),
      pause: (client) => (client % 2 === 0 ? 0 : random.between(0, MAX_PAUSE)),
      endsWhenRefused: true,
    });
    await group.untilConnected();
    await sleep(random.between(200, 1200));
    const start = performance.now();
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    stopTimes.push(Math.round(performance.now() - start));
    const outcomes = await group.ended();
    requests += outcomes.requests;
    failures.push(...outcomes.failures);
    acknowledged.push(...outcomes.pets);
  }
  printTable(`Stops under load, seed ${SEED}`, [
    ['rounds', 'requests', 'broken', 'creates', 'longest stop ms'],
    [STOPS, requests, failures.length, acknowledged.length, Math.max(...stopTimes)],
  ]);
  expect(failures).toEqual([]);
  expect((await exportOf(folder)).toSorted(), BROKEN_PROMISE).toEqual(acknowledged.toSorted());
  expect(requests).toBeGreaterThan(STOPS * CLIENTS);
});
