/** Moves and replaces the files of a server while clients create pets. */

import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { MOVES } from '../adapters/sqlite/watched-storage.ts';
import { until } from '../support/clock.ts';
import { READY, readinessOf, stateLines, untilReadinessIs } from '../support/faults.ts';
import {
  OPERATOR_KEY,
  type Service,
  startService,
  stopService,
  temporaryFolder,
} from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { ClientGroup, createOf, type Outcomes } from './client/clients.ts';
import { ROUNDS } from './options.ts';
import { canonicalPet } from './oracle/pet.ts';
import { exportOf } from './server.ts';
import { printTable } from './table.ts';

const WRITERS = 8;
const TIMEOUT = { timeout: 120_000 + ROUNDS * 20_000 };

async function serve(): Promise<{ service: Service; path: string; load: () => ClientGroup }> {
  const folder = join(temporaryFolder(), 'data');
  mkdirSync(folder);
  const path = join(folder, 'pets.db');
  const service = await startService({ env: { API_KEYS: OPERATOR_KEY, DATABASE_URL: `sqlite:${path}` } });
  const load = () => {
    const group = new ClientGroup({
      origin: service.origin,
      key: OPERATOR_KEY,
      clients: WRITERS,
      next: (client, count) => createOf(`${'x'.repeat(200)} ${client}.${count}`),
    });
    onTestFinished(() => void group.stop());
    return group;
  };
  return { service, path, load };
}

/** Expects every create to have the response 201 or 503, and every acknowledged pet to be stored. */
function expectNothingLost({ pets, failures }: Outcomes, path: string): void {
  const stored = new Set(exportOf(dirname(path)).map(canonicalPet));
  expect(
    pets.filter((pet) => !stored.has(canonicalPet(pet))),
    BROKEN_PROMISE,
  ).toEqual([]);
  expect(failures.filter((failure) => !failure.includes(': 503 {"code":"storage_unavailable"'))).toEqual([]);
}

test(
  `the files are renamed and renamed back under load, ${ROUNDS} times: nothing is lost`,
  TIMEOUT,
  async () => {
    const { service, path, load } = await serve();
    const group = load();
    for (let round = 0; round < ROUNDS; round++) {
      const [, away, back] = MOVES[round % MOVES.length] as (typeof MOVES)[number];
      const { pets, failures } = group.outcomes;
      const [acknowledged, refused] = [pets.length, failures.length];
      await until(() => pets.length > acknowledged + 50);
      away(path);
      await until(() => failures.length > refused + 50);
      for (let times = 0; times < 3; times++) {
        await sleep(300);
        expect((await readinessOf(service)).body).toMatch(/"reason":"file_(missing|replaced)"/);
        for (const target of ['/v1/pets', '/v1/pets/1']) {
          expect(await service.client.get(target)).toMatchObject({ status: 503 });
        }
      }
      back(path);
      await untilReadinessIs(service, READY);
    }
    const outcomes = await group.stop();
    expect(await stopService(service)).toEqual({ code: 0, signal: null });
    printTable('Files renamed under load', [
      ['rounds', 'acknowledged', 'refused'],
      [ROUNDS, outcomes.pets.length, outcomes.failures.length],
    ]);
    expectNothingLost(outcomes, path);
    const levels = stateLines(service).map(({ level }) => level);
    expect(levels.filter((level) => level === 30)).toHaveLength(ROUNDS);
    expect(levels.at(-1)).toBe(30);
  },
);
