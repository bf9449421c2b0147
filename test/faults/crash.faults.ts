/** Kills the process during pipelined creates, repeatedly, on one store. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { Answer } from '../support/client.ts';
import { Connection } from '../support/connection.ts';
import { pipelineOf } from '../support/pipeline.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { exportOf } from './commands.ts';
import { PIPELINED, ROUNDS, SEED } from './options.ts';
import { canonicalPet, idOf } from './oracle/pet.ts';
import { Random } from './random.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

const CONNECTIONS = 8;
const STREAM = 0x6372_7368;
const TIMEOUT = { timeout: 120_000 + ROUNDS * 20_000 };

describe(`a server that is killed while it creates, ${ROUNDS} rounds of seed ${SEED}`, TIMEOUT, () => {
  const random = new Random(SEED, STREAM);
  const folder = temporaryFolder();
  const { create } = pipelineOf(OPERATOR_KEY);
  const acknowledged: string[] = [];
  let greatestId = 0;
  let sent = 0;

  test.each(Array.from({ length: ROUNDS }, (_, round) => round + 1))(
    'round %i: every acknowledged pet is stored, and ids are unique and ascend',
    async (round) => {
      const server = await FaultsServer.start({ folder });
      const lastId = greatestId;
      const connections = await Promise.all(
        Array.from({ length: CONNECTIONS }, () => Connection.open(server.origin)),
      );
      const first = acknowledged.length;
      const delay = random.between(0, 1000);
      const killSoon = async () => {
        await expect.poll(() => acknowledged.length, { interval: 5 }).toBeGreaterThan(first);
        await sleep(delay);
        await server.kill();
      };
      await Promise.all([
        killSoon(),
        ...connections.map((connection, writer) =>
          createUntilKilled(connection, `${round}.${writer}`, lastId),
        ),
      ]);
      expect(await server.exit).toEqual({ code: null, signal: 'SIGKILL' });
      expectStored(await exportOf(folder), acknowledged);
    },
  );

  test('no acknowledged pet of any round is lost', async () => {
    const stored = await exportOf(folder);
    printTable(`Kills, seed ${SEED}`, [
      ['rounds', 'creates sent', 'acknowledged', 'stored'],
      [ROUNDS, sent, acknowledged.length, stored.length],
    ]);
    expectStored(stored, acknowledged);
    expect(acknowledged.length).toBeGreaterThan(ROUNDS * CONNECTIONS);
  });

  /** Sends a batch once the previous batch was acknowledged, so the ids of each batch are greater. */
  async function createUntilKilled(connection: Connection, writer: string, lastId: number): Promise<void> {
    let greatest = lastId;
    for (let count = 0; ; count += PIPELINED) {
      const names = Array.from({ length: PIPELINED }, (_, index) => `${writer}.${count + index}`);
      sent += PIPELINED;
      connection.write(names.map(create).join(''));
      const responses: Answer[] = [];
      for (let next: Answer | undefined; responses.length < PIPELINED; responses.push(next)) {
        next = await connection.nextOrEnd();
        if (next === undefined) break;
      }
      expect(responses.filter(({ status }) => status !== 201)).toEqual([]);
      const pets = responses.map(({ body }) => body);
      const ids = pets.map(idOf);
      expect(ids.filter((id) => id <= greatest)).toEqual([]);
      greatest = Math.max(greatest, ...ids);
      greatestId = Math.max(greatestId, greatest);
      acknowledged.push(...pets);
      if (responses.length < PIPELINED) return;
    }
  }
});

/** Pets that were not acknowledged may be stored or not. */
function expectStored(stored: readonly string[], acknowledged: readonly string[]): void {
  const ids = stored.map(idOf);
  expect(
    ids.filter((id, index) => index > 0 && id <= (ids[index - 1] ?? 0)),
    BROKEN_PROMISE,
  ).toEqual([]);
  const present = new Set(stored.map(canonicalPet));
  expect(acknowledged.filter((pet) => !present.has(canonicalPet(pet))).slice(0, 10), BROKEN_PROMISE).toEqual(
    [],
  );
  expect(new Set(acknowledged.map(idOf)).size, BROKEN_PROMISE).toBe(acknowledged.length);
}
