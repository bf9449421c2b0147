/** Kills the process during creates, repeatedly, on one store. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { ClientGroup, createOf } from './client/clients.ts';
import { exportOf, idOf } from './commands.ts';
import { ROUNDS, SEED } from './options.ts';
import { Random } from './random.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

const CLIENTS = 64;
const STREAM = 0x6372_7368;
const TIMEOUT = { timeout: 120_000 + ROUNDS * 20_000 };

describe(`a server that is killed while it creates, ${ROUNDS} rounds of seed ${SEED}`, TIMEOUT, () => {
  const random = new Random(SEED, STREAM);
  const folder = temporaryFolder();
  const acknowledged: string[] = [];
  let sent = 0;

  test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    'round %i: every acknowledged pet is stored, and ids are unique and ascend',
    async (round) => {
      const server = await FaultsServer.start({ folder });
      const group = new ClientGroup({
        origin: server.origin,
        key: OPERATOR_KEY,
        clients: CLIENTS,
        next: (client, count) => createOf(`${round}.${client}.${count}`),
        endsWhenRefused: true,
      });
      const { pets, failures } = group.outcomes;
      await expect.poll(() => pets.length, { interval: 5 }).toBeGreaterThan(0);
      await sleep(random.between(0, 1000));
      expect(await server.kill()).toEqual({ code: null, signal: 'SIGKILL' });
      sent += (await group.ended()).requests;
      // A connection is lost, but no request is refused.
      expect(failures.filter((failure) => !/: Error: /.test(failure))).toEqual([]);
      const greatest = Math.max(0, ...acknowledged.map(idOf));
      expect(pets.filter((pet) => idOf(pet) <= greatest)).toEqual([]);
      acknowledged.push(...pets);
      await expectStored();
    },
  );

  test('no acknowledged pet of any round is lost', async () => {
    const stored = await expectStored();
    printTable(`Kills, seed ${SEED}`, [
      ['rounds', 'creates sent', 'acknowledged', 'stored'],
      [ROUNDS, sent, acknowledged.length, stored],
    ]);
    expect(acknowledged.length).toBeGreaterThan(ROUNDS * CLIENTS);
  });

  /** Pets that were not acknowledged may be stored or not. */
  async function expectStored(): Promise<number> {
    const stored = await exportOf(folder);
    const ids = stored.map(idOf);
    const present = new Set(stored);
    expect(
      {
        misplaced: ids.filter((id, index) => index > 0 && id <= (ids[index - 1] ?? 0)),
        lost: acknowledged.filter((pet) => !present.has(pet)).slice(0, 10),
        ids: new Set(acknowledged.map(idOf)).size,
      },
      BROKEN_PROMISE,
    ).toEqual({ misplaced: [], lost: [], ids: acknowledged.length });
    return stored.length;
  }
});
