/** Restores of backups while a server runs or starts, and when they are killed. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { endOf } from '../e2e/workspace.ts';
import { until } from '../support/clock.ts';
import { OPERATOR_KEY, stopService } from '../support/process.ts';
import { BackedUpStore } from './backed-up-store.ts';
import { ROUNDS, SEED } from './options.ts';
import { Random } from './random.ts';
import { printTable } from './table.ts';

const PETS = 50_000;
const STREAM = 0x7265_7374;
const TIMEOUT = { timeout: 120_000 + ROUNDS * 20_000 };

test(
  'a restore is refused while a server runs, and replaces the store of a killed server',
  TIMEOUT,
  async () => {
    const store = await BackedUpStore.create(10);
    const { work } = store;
    const server = await work.serve({ API_KEYS: OPERATOR_KEY });
    const inUse = `DATABASE_URL: ${work.store} is in use by another process: stop the server before the restore`;
    expect(await endOf(store.startRestore())).toEqual({
      status: 1,
      out: '',
      err: `animal-store: ${inUse}\n`,
    });
    const { status, body } = await server.client.get('/v1/pets');
    expect([status, JSON.parse(body).length]).toEqual([200, 11]);
    expect((await server.client.get('/readyz')).status).toBe(200);
    server.child.kill('SIGKILL');
    await server.exit;
    const { status: exit, out } = await endOf(store.startRestore());
    expect([exit, out]).toEqual([0, expect.stringContaining('10 pets')]);
    expect(store.isRestored()).toBe(true);
  },
);

test(
  `a restore that is killed at any time, ${2 * ROUNDS} rounds of seed ${SEED}, leaves the old store or the restored one`,
  TIMEOUT,
  async () => {
    const random = new Random(SEED, STREAM);
    const store = await BackedUpStore.create(PETS);
    const begin = performance.now();
    expect((await endOf(store.startRestore())).status).toBe(0);
    const duration = performance.now() - begin;
    let restored = 0;
    for (let round = 0; round < 2 * ROUNDS; round++) {
      if (store.isRestored()) store.addPet();
      const restoring = store.startRestore();
      await sleep(random.between(0, duration));
      restoring.child.kill('SIGKILL');
      expect((await endOf(restoring)).err).toBe('');
      if (store.isRestored()) restored += 1;
    }
    printTable(`Restores that are killed, seed ${SEED}`, [
      ['rounds', 'restored', 'ms without a kill'],
      [2 * ROUNDS, restored, Math.round(duration)],
    ]);
    expect((await endOf(store.startRestore())).status).toBe(0);
    expect(store.isRestored()).toBe(true);
  },
);

test(
  'a server that starts during a restore waits or fails, and serves only the restored store',
  TIMEOUT,
  async () => {
    const store = await BackedUpStore.create(PETS);
    const restoring = store.startRestore();
    await until(() => store.isBeingCopied || restoring.child.exitCode !== null);
    const server = store.work.start(['serve']);
    expect((await endOf(restoring)).status).toBe(0);
    await until(() => server.out.stdout.includes('Listening') || server.child.exitCode !== null);
    if (server.child.exitCode !== null) expect(server.out.stderr).toMatch(/locked|replaced|start again/);
    else await stopService(server);
    expect(store.isRestored()).toBe(true);
  },
);
