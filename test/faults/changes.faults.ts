/** Kills and pauses two processes that create, change and read the pets of one store. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { AnimalStore } from '../../src/application/animal-store.ts';
import { exerciseChanges } from '../../src/testing/history/exercise-changes.ts';
import { exercise, History } from '../../src/testing/index.ts';
import { randomNumbers } from '../../src/testing/random.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { ROUNDS, SEED } from './options.ts';
import { PortProcess } from './port-processes.ts';
import { STORES } from './stores.ts';
import { printTable } from './table.ts';

/** The calls of the clients between two kills. */
const CALLS_PER_KILL = 120;
const TIMEOUT = { timeout: 120_000 + ROUNDS * 20_000 };

/** Each resolves with a description of a contradiction, if there is one. */
const EXERCISES: readonly (readonly [calls: string, exercise: typeof exerciseChanges])[] = [
  ['creates, changes, removals and reads', exerciseChanges],
  [
    'creates, retried creates, reads and lists',
    async (stores, options) => {
      const history = new History();
      const others = { check: async () => {}, close: async () => {} };
      await exercise(
        history,
        stores.map((ports) => new AnimalStore({ ...ports, ...others })),
        options,
      );
      return history.contradiction();
    },
  ],
];

describe.each(STORES)(`${ROUNDS} kills on $name (seed ${SEED})`, ({ name, newUrl, canRun }) => {
  test.skipIf(!canRun).each(EXERCISES)('%s fit one order', TIMEOUT, async (calls, exercise) => {
    const url = await newUrl();
    const processes = [new PortProcess(url), new PortProcess(url)];
    const stores = processes.map((each) => ({
      pets: each.port('pets'),
      changes: each.port('changes'),
      idempotentCreates: each.port('idempotentCreates'),
    }));
    const end = new AbortController();
    const exercising = exercise(stores, { calls: Infinity, seed: SEED, signal: end.signal });
    await killDuring(processes, exercising).finally(() => end.abort());
    expect(await exercising, BROKEN_PROMISE).toBeUndefined();
    printTable(`${name}: ${calls}`, [
      ['kills', 'calls'],
      [ROUNDS, callsOf(processes)],
    ]);
  });
});

function callsOf(processes: readonly PortProcess[]): number {
  return processes.reduce((sum, { calls }) => sum + calls, 0);
}

/** Repeatedly kills a process, and often pauses it first. Rejects when the work fails meanwhile. */
async function killDuring(processes: readonly PortProcess[], work: Promise<unknown>): Promise<void> {
  const random = randomNumbers(SEED);
  let error: unknown;
  work.catch((reason: unknown) => {
    error = reason;
  });
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const next = callsOf(processes) + CALLS_PER_KILL; callsOf(processes) < next; await sleep(2))
      if (error !== undefined) throw error;
    const chosen = processes[random(2)] as PortProcess;
    if (random(5) < 2) await chosen.pause(1 + random(300));
    await chosen.killAndStartAgain();
  }
}
