/** Kills the server repeatedly while clients create pets with idempotency keys, and retry until they have a response. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { until } from '../support/clock.ts';
import { withRequired } from '../support/pets.ts';
import { temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { exportOf } from './commands.ts';
import { ROUNDS, SEED } from './options.ts';
import { Random } from './random.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

const CLIENTS = 16;
const STREAM = 0x7265_7472;
const RETRY_DELAY = 5;

/** The share of the creates that are sent twice at the same moment, and the share that are sent again later. */
const TWICE = 0.2;
const AGAIN = 0.2;

test(`through ${ROUNDS} kills of seed ${SEED}, each idempotency key has one pet and one response`, {
  timeout: 120_000 + ROUNDS * 20_000,
}, async () => {
  const random = new Random(SEED, STREAM);
  const folder = temporaryFolder();
  const acknowledged = new Map<string, string>();
  let server = await FaultsServer.start({ folder });
  let isRunning = true;
  let failures = 0;
  let replays = 0;

  /** Repeats a request until it has a response. */
  async function create(key: string): Promise<void> {
    const pet = withRequired({ name: key, categoryId: 1 });
    await until(async () => {
      const answer = await server.client.post(pet, { 'Idempotency-Key': key }).catch(unlessLost);
      if (answer === undefined || answer.status === 503) {
        failures += 1;
        return false;
      }
      const { status, headers, body } = answer;
      expect(status, body).toBe(201);
      expect(acknowledged.get(key) ?? body, BROKEN_PROMISE).toBe(body);
      acknowledged.set(key, body);
      if (headers['idempotency-replayed'] === 'true') replays += 1;
      return true;
    }, RETRY_DELAY);
  }

  async function runClient(client: number): Promise<void> {
    for (let count = 0; isRunning; count++) {
      const key = `${client}.${count}`;
      await Promise.all(random.chance(TWICE) ? [create(key), create(key)] : [create(key)]);
      if (random.chance(AGAIN)) await create(key);
    }
  }

  const clients = Array.from({ length: CLIENTS }, (_, client) => runClient(client));
  for (let round = 0; round < ROUNDS; round++) {
    await sleep(random.between(50, 600));
    await server.kill();
    server = await FaultsServer.start({ folder });
  }
  isRunning = false;
  await Promise.all(clients);
  await server.kill();

  const stored = await exportOf(folder);
  printTable(`Retries through kills, seed ${SEED}`, [
    ['kills', 'keys', 'pets', 'failed attempts', 'replays'],
    [ROUNDS, acknowledged.size, stored.length, failures, replays],
  ]);
  expect(stored.toSorted(), BROKEN_PROMISE).toEqual([...acknowledged.values()].toSorted());
  expect(failures).toBeGreaterThan(0);
  expect(replays).toBeGreaterThan(0);
});

/** A lost connection has a code, unlike a response that breaks a rule. */
function unlessLost(error: unknown): undefined {
  if (!(error instanceof Error && 'code' in error)) throw error;
}
