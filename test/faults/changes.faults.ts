/** Kills and pauses two processes that change the pets of one store. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ChangeAttempt } from '../../src/application/ports/idempotent-changes.ts';
import { exerciseChanges } from '../../src/testing/history/exercise-changes.ts';
import { REX } from '../support/pets.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { ROUNDS, SEED } from './options.ts';
import { PortProcess } from './port-processes.ts';
import { Random } from './random.ts';
import { STORES } from './stores.ts';
import { printTable } from './table.ts';

/** The calls of the clients between two kills. */
const CALLS_PER_KILL = 120;
const WORKERS = 8;
const STREAM = 0x6368_616e;
const TIMEOUT = { timeout: 120_000 + ROUNDS * 20_000 };

describe.each(STORES)(`${ROUNDS} kills on $name (seed ${SEED})`, ({ name, newUrl, canRun }) => {
  test.skipIf(!canRun)('creates, changes, removals and reads fit one order', TIMEOUT, async () => {
    const processes = startTwo(await newUrl());
    const stores = processes.map((each) => ({ pets: each.port('pets'), changes: each.port('changes') }));
    const end = new AbortController();
    const exercising = exerciseChanges(stores, { calls: Infinity, seed: SEED, signal: end.signal });
    await killDuring(processes, exercising).finally(() => end.abort());
    expect(await exercising, BROKEN_PROMISE).toBeUndefined();
    printTable(`Changes: ${name}`, [
      ['kills', 'calls'],
      [ROUNDS, callsOf(processes)],
    ]);
  });

  test.skipIf(!canRun)(
    'increments that the other process retries with their keys are made once',
    TIMEOUT,
    async () => {
      const processes = startTwo(await newUrl());
      const [one] = processes.map((each) => each.port('pets'));
      const { id } = (await one?.add({ ...REX, categoryId: 0n })) ?? expect.fail();
      let isOver = false;
      const keys: string[] = [];
      const working = Promise.all(
        Array.from({ length: WORKERS }, async (_, worker) => {
          for (let count = 0; !isOver; count += 1) {
            const key = `${worker}-${count}`;
            await increment(processes, id, key, worker + count);
            keys.push(key);
          }
        }),
      );
      await killDuring(processes, working).finally(() => {
        isOver = true;
      });
      await working;
      const writes = (processes[0] as PortProcess).port('idempotentChanges');
      const states = await Promise.all(keys.map((key) => writes.find(id, attemptOf(key))));
      const responses = states.map(({ record }) => Number(record?.pet?.categoryId));
      const expected = keys.map((_, index) => index + 1);
      expect(
        responses.toSorted((a, b) => a - b),
        BROKEN_PROMISE,
      ).toEqual(expected);
      expect(states[0]?.version?.pet?.categoryId, BROKEN_PROMISE).toBe(BigInt(keys.length));
      printTable(`Increments: ${name}`, [
        ['kills', 'increments', 'calls'],
        [ROUNDS, keys.length, callsOf(processes)],
      ]);
    },
  );
});

function startTwo(url: string): readonly PortProcess[] {
  return [new PortProcess(url), new PortProcess(url)];
}

function callsOf(processes: readonly PortProcess[]): number {
  return processes.reduce((sum, { calls }) => sum + calls, 0);
}

/** Kills a process, and often pauses it before, again and again. Rejects when the work fails meanwhile. */
async function killDuring(processes: readonly PortProcess[], work: Promise<unknown>): Promise<void> {
  const random = new Random(SEED, STREAM);
  let error: unknown;
  work.catch((reason: unknown) => {
    error = reason;
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const next = callsOf(processes) + CALLS_PER_KILL; callsOf(processes) < next; await sleep(2))
      if (error !== undefined) throw error;
    const chosen = processes[random.below(2)] as PortProcess;
    if (random.chance(0.4)) await chosen.pause(random.between(1, 300));
    await chosen.killAndStartAgain();
  }
}

/** Retries with the same key, each time in the other process, until an attempt has succeeded or its record is found. */
async function increment(
  processes: readonly PortProcess[],
  id: bigint,
  key: string,
  first: number,
): Promise<void> {
  for (let at = first; ; at += 1) {
    const writes = (processes[at % 2] as PortProcess).port('idempotentChanges');
    try {
      const { record, version } = await writes.find(id, attemptOf(key));
      if (record !== undefined) return;
      const { pet, revision } = version ?? expect.fail();
      const next = { ...(pet ?? expect.fail()), categoryId: (pet?.categoryId ?? 0n) + 1n };
      if ((await writes.replace(next, revision, attemptOf(key))) !== undefined) return;
    } catch (error) {
      if ((error as { code?: string }).code !== 'storage_unavailable') throw error;
    }
  }
}

function attemptOf(key: string): ChangeAttempt {
  return { caller: '1', key, validFor: 3_600_000, request: 'increment' };
}
