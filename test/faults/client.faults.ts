/** The client of the API creates pets through a proxy that cuts connections, while the server is killed every 300 ms. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createAnimalStore } from '../../src/library/client.ts';
import { freePort } from '../support/free-port.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { startTunnel } from '../support/sockets.ts';
import { CREATES } from './options.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

/** How long a server lives at least before it is killed, in milliseconds. */
const LIFETIME = 300;

/** The number of creates in flight. */
const CONCURRENCY = 32;

/** One connection in this number is cut. */
const CUT = 10;

/** A connection that is to be cut transfers at most this number of responses before. */
const RESPONSES_LIMIT = 5;

/** In milliseconds. Time in which the machine stands still is one step of the life of a server. */
const STEP = 10;

/** So many servers are enough, however slow the machine is: none is killed before it has sent its share of the responses. */
const LIVES = 40;

/** In milliseconds. On a busy machine, a server is rarely up, and a call needs many attempts. */
const CALL_TIMEOUT = 100_000;

test(`${CREATES} pets are stored once each, although the server is killed every ${LIFETIME} ms`, {
  timeout: 120_000 + CREATES * 180,
}, async () => {
  const start = performance.now();
  const place = { folder: temporaryFolder(), port: await freePort() };
  let server = await FaultsServer.start(place);
  const { port, count } = await startProxy(place.port);
  const open = (port: number) =>
    createAnimalStore({
      database: `http://127.0.0.1:${port}/v1`,
      apiKey: OPERATOR_KEY,
      timeout: CALL_TIMEOUT,
    });
  const client = await open(port);
  onTestFinished(() => client.close());
  let kills = 0;
  let isRunning = true;
  const killAll = async (): Promise<void> => {
    for (;;) {
      const enough = count.responses + CREATES / LIVES;
      for (let time = 0; isRunning && (time < LIFETIME || count.responses < enough); time += STEP) {
        await sleep(STEP);
      }
      if (!isRunning) return;
      await server.kill();
      kills += 1;
      server = await FaultsServer.start(place);
    }
  };
  const created: string[] = [];
  let next = 0;
  const create = async (): Promise<void> => {
    while (next < CREATES) {
      const name = `pet ${next++}`;
      await client.createPet({ name, categoryId: 1n });
      created.push(name);
    }
  };
  const creating = Promise.all(Array.from({ length: CONCURRENCY }, create)).finally(() => {
    isRunning = false;
  });
  await Promise.all([creating, killAll()]);
  const stored: string[] = [];
  for await (const { name } of (await open(place.port)).listPets()) stored.push(name);
  printTable('Creates of the client through kills and cuts', [
    ['pets', 'kills', 'cut connections', 'seconds'],
    [stored.length, kills, count.cuts, Math.round((performance.now() - start) / 1000)],
  ]);
  expect(created, BROKEN_PROMISE).toHaveLength(CREATES);
  expect(stored.toSorted(), BROKEN_PROMISE).toEqual(created.toSorted());
  expect(kills).toBeGreaterThan(0);
  expect(count.cuts).toBeGreaterThan(0);
});

/** Of ten connections, one is cut: when a request has reached the server, and before the client has its response. */
async function startProxy(to: number) {
  const count = { connections: 0, cuts: 0, responses: 0 };
  const { port } = await startTunnel({ port: to }, (client, server) => {
    count.connections += 1;
    let left = count.connections % CUT === 0 ? 1 + (count.connections % RESPONSES_LIMIT) : Infinity;
    client.pipe(server);
    server.on('data', (data) => {
      count.responses += 1;
      left -= 1;
      if (left > 0) {
        client.write(data);
        return;
      }
      count.cuts += 1;
      client.destroy();
    });
  });
  return { port, count };
}
