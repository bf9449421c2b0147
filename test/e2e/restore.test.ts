/** Restores of backups while a server runs, and when the process is killed. */

import { expect, test } from 'vitest';
import { OPERATOR_KEY } from '../support/process.ts';
import { BackedUpStore } from './backed-up-store.ts';
import { endOf, until } from './workspace.ts';

const TIMEOUT = { timeout: 60_000 };

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

test('a restore that is killed leaves the old store or the restored one', TIMEOUT, async () => {
  const store = await BackedUpStore.create(20_000);
  const restoring = store.startRestore();
  await until(() => store.isBeingCopied || restoring.child.exitCode !== null);
  restoring.child.kill('SIGKILL');
  await endOf(restoring);
  const wasRestored = store.isRestored();
  expect((await endOf(store.startRestore())).status).toBe(0);
  expect([wasRestored, store.isRestored()]).toEqual([expect.any(Boolean), true]);
});
