/** The client of the API creates pets through a proxy that cuts connections, while the server is killed again and again. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createAnimalStore } from '../../src/library/client.ts';
import { freePort } from '../support/free-port.ts';
import { withRequired } from '../support/pets.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { startTunnel } from '../support/sockets.ts';
import { exportOf } from './commands.ts';
import { CREATES } from './options.ts';
import { nameOf } from './oracle/pet.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

/** How long a server lives at least before it is killed, in milliseconds. It then has sent its share of the responses. */
const LIFETIME = 300;
const LIVES = 40;

/** The number of creates in flight. */
const CONCURRENCY = 32;

/** One connection in this number is cut, after at most five responses. */
const CUT = 10;

/** In milliseconds. On a busy machine, a server is rarely up, and a call needs many attempts. */
const CALL_TIMEOUT = 100_000;

test(`${CREATES} pets are stored once each, although the server is killed again and again`, {
  timeout: 120_000 + CREATES * 180,
}, async () => {
  const place = { folder: temporaryFolder(), port: await freePort() };
  let server = await FaultsServer.start(place);
  const { port, count } = await startProxy(place.port);
  const client = await createAnimalStore({
    database: `http://127.0.0.1:${port}/v1`,
    apiKey: OPERATOR_KEY,
    timeout: CALL_TIMEOUT,
  });
  onTestFinished(() => client.close());
  const created: string[] = [];
  let [next, kills, isRunning] = [0, 0, true];
  const create = async (): Promise<void> => {
    while (next < CREATES) {
      const name = `pet ${next++}`;
      await client.createPet(withRequired({ name, categoryId: 1n }));
      created.push(name);
    }
  };
  const killAll = async (): Promise<void> => {
    for (;;) {
      const [end, enough] = [performance.now() + LIFETIME, count.responses + CREATES / LIVES];
      while (isRunning && (performance.now() < end || count.responses < enough)) await sleep(10);
      if (!isRunning) return;
      await server.kill();
      kills += 1;
      server = await FaultsServer.start(place);
    }
  };
  const creating = Promise.all(Array.from({ length: CONCURRENCY }, create)).finally(() => {
    isRunning = false;
  });
  await Promise.all([creating, killAll()]);
  const stored = (await exportOf(place.folder)).map(nameOf);
  printTable('Creates of the client through kills and cuts', [
    ['pets', 'kills', 'cut connections'],
    [stored.length, kills, count.cuts],
  ]);
  expect(created, BROKEN_PROMISE).toHaveLength(CREATES);
  expect(stored.toSorted(), BROKEN_PROMISE).toEqual(created.toSorted());
  expect(kills).toBeGreaterThan(0);
  expect(count.cuts).toBeGreaterThan(0);
});

/** Cuts connections when a request has reached the server, and before the client has its response. */
async function startProxy(to: number) {
  const count = { connections: 0, cuts: 0, responses: 0 };
  const { port } = await startTunnel({ port: to }, (client, server) => {
    count.connections += 1;
    let left = count.connections % CUT === 0 ? 1 + (count.connections % 5) : Infinity;
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
