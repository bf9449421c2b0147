/** A program that creates pets over HTTP while the server is killed, behind a proxy that cuts connections. */

import { setTimeout as sleep } from 'node:timers/promises';
import { createAnimalStore } from '../../src/library/client.ts';
import { freePort } from '../support/free-port.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { startTunnel } from '../support/sockets.ts';
import { FaultsServer } from './server.ts';

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

export interface Load {
  readonly pets: number;
  /** The number of creates in flight. */
  readonly concurrency: number;
  /** How long a server lives at least before it is killed, in milliseconds. */
  readonly lifetime: number;
}

export interface Outcome {
  readonly kills: number;
  readonly cuts: number;
  /** The names of the pets that the program has created. */
  readonly created: readonly string[];
  /** The names of the stored pets. */
  readonly stored: readonly string[];
}

export async function createThroughKills({ pets, concurrency, lifetime }: Load): Promise<Outcome> {
  const place = { folder: temporaryFolder(), port: await freePort() };
  let server = await FaultsServer.start(place);
  let kills = 0;
  const proxy = await startProxy(place.port);
  const open = (port: number) =>
    createAnimalStore({
      database: `http://127.0.0.1:${port}/v1`,
      apiKey: OPERATOR_KEY,
      timeout: CALL_TIMEOUT,
    });
  const client = await open(proxy.port);
  let isRunning = true;
  const killing = (async () => {
    for (;;) {
      const enough = proxy.count.responses + pets / LIVES;
      for (let time = 0; isRunning && (time < lifetime || proxy.count.responses < enough); time += STEP) {
        await sleep(STEP);
      }
      if (!isRunning) return;
      await server.kill();
      kills += 1;
      server = await FaultsServer.start(place);
    }
  })();
  try {
    const created: string[] = [];
    let next = 0;
    const create = async (): Promise<void> => {
      while (next < pets) {
        const name = `pet ${next++}`;
        await client.createPet({ name, categoryId: 1n });
        created.push(name);
      }
    };
    await Promise.all(Array.from({ length: concurrency }, create));
    isRunning = false;
    await killing;
    const stored: string[] = [];
    for await (const { name } of (await open(place.port)).listPets()) stored.push(name);
    return { kills, cuts: proxy.count.cuts, created, stored };
  } finally {
    isRunning = false;
    await killing.catch(() => {});
    await client.close();
    await server.kill();
  }
}

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
