/** Kills two servers behind nginx in turn, while clients of `changePet` increment a number of one pet. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createAnimalStore } from '../../src/library/client.ts';
import { until } from '../support/clock.ts';
import { freePort } from '../support/free-port.ts';
import { CHANGING_SETTINGS } from '../support/lifecycle.ts';
import { REX } from '../support/pets.ts';
import { canRunPostgres, newDatabaseUrl, postgresNote } from '../support/postgres/index.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { storeOf } from './commands.ts';
import { hasNginx, startNginx } from './nginx.ts';
import { ROUNDS, SEED } from './options.ts';
import { Random } from './random.ts';
import { startFaultsServer } from './server.ts';
import { printTable } from './table.ts';

const CLIENTS = 4;
/** The increments that each client makes at least. */
const INCREMENTS = 25;
/** One of so many responses to a change is lost, in addition to those that a kill cuts off. */
const LOST = 5;
/** The time of a call, in milliseconds: no call may end without knowing its outcome. */
const PATIENCE = 120_000;
/**
 * A client pauses, on average, twice as long as its last call took. Clients without a pause are overtaken 20 times in a row
 * sooner or later, and then `changePet` gives up.
 */
const PAUSE = 4;
const STREAM = 0x696e_6372;
const note = hasNginx ? '' : ' (skipped: nginx is not installed)';

describe.each([
  { name: 'one SQLite file', canRun: true },
  { name: `PostgreSQL${postgresNote}`, canRun: canRunPostgres },
])(`two servers behind nginx on $name${note}`, ({ name, canRun }) => {
  test.skipIf(!canRun || !hasNginx)(
    `each confirmed increment is made exactly once through ${ROUNDS} kills`,
    { timeout: 2 * PATIENCE + ROUNDS * 20_000 },
    async () => {
      const random = new Random(SEED, STREAM);
      const folder = temporaryFolder();
      const env = { DATABASE_URL: storeOf(folder), ...CHANGING_SETTINGS };
      if (name.includes('PostgreSQL')) env.DATABASE_URL = await newDatabaseUrl();
      const ports = [await freePort(), await freePort()];
      const start = (turn: number) => startFaultsServer({ folder, env, port: ports[turn] as number });
      const servers = [await start(0), await start(1)];
      const nginx = await startNginx({ servers: ports });

      let [responses, cutOff, replays] = [0, 0, 0];
      const unreliable = async (url: string, init: RequestInit) => {
        const response = await fetch(url, init);
        if (response.status === 502) cutOff += 1;
        if (response.headers.has('Idempotency-Replayed')) replays += 1;
        if (init.method !== 'PATCH' || !response.ok || ++responses % LOST !== 0) return response;
        await response.text();
        throw new Error('the response is lost');
      };
      const open = () =>
        createAnimalStore({
          database: `${nginx.origin}/v1`,
          apiKey: OPERATOR_KEY,
          timeout: PATIENCE,
          fetch: unreliable,
        });
      const stores = await Promise.all(Array.from({ length: CLIENTS }, open));
      onTestFinished(async () => void (await Promise.all(stores.map((store) => store.close()))));
      const [reader] = stores as [(typeof stores)[0], ...typeof stores];
      const { id } = await reader.createPet({ ...REX, categoryId: 0n });

      const confirmed: bigint[] = [];
      let [isOver, calls] = [false, 0];
      const increment = async (store: typeof reader) => {
        for (let count = 0; count < INCREMENTS || !isOver; count += 1) {
          const begin = performance.now();
          const { pet } = await store.changePet(id, ({ categoryId }) => {
            calls += 1;
            return { categoryId: categoryId + 1n };
          });
          confirmed.push(pet.categoryId);
          await sleep(PAUSE * Math.random() * (performance.now() - begin));
        }
      };
      const killInTurn = async () => {
        for (let round = 0; round < ROUNDS && !isOver; round += 1) {
          const before = confirmed.length;
          await until(() => isOver || confirmed.length > before);
          await sleep(random.between(0, 500));
          expect(await servers[round % 2]?.kill()).toEqual({ code: null, signal: 'SIGKILL' });
          servers[round % 2] = await start(round % 2);
        }
        isOver = true;
      };
      await Promise.all([...stores.map(increment), killInTurn()]).finally(() => {
        isOver = true;
      });

      printTable(`Increments behind nginx: ${name}`, [
        ['kills', 'increments', 'overtaken', 'status 502', 'replays'],
        [ROUNDS, confirmed.length, calls - confirmed.length, cutOff, replays],
      ]);
      const { categoryId } = await reader.getPet(id);
      expect(categoryId, BROKEN_PROMISE).toBe(BigInt(confirmed.length));
      const each = confirmed.toSorted((one, other) => Number(one - other));
      expect(each, BROKEN_PROMISE).toEqual(confirmed.map((_, index) => BigInt(index + 1)));
      expect(replays).toBeGreaterThan(0);
      for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null });
    },
  );
});
