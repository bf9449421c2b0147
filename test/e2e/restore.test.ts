/** Restores of backups, while servers run and when the process is killed. */

import { readdirSync, statSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { stopService } from '../support/process.ts';
import { endOf, lines, listWith, until, Workspace } from './workspace.ts';

const TIMEOUT = { timeout: 120_000 };

/** A workspace whose store has another pet than its backup `backup.db`. */
async function withBackup(pets = 10): Promise<{ work: Workspace; saved: string; current: string }> {
  const work = new Workspace();
  await work.createKey();
  await work.run(['import', '-'], lines(pets, 'saved'));
  const saved = await work.output('export');
  await work.output('backup', 'backup.db');
  await work.run(['import', '-'], lines(1, 'later'));
  return { work, saved, current: await work.output('export') };
}

describe('restore', TIMEOUT, () => {
  test('is refused while a server in another process runs, and works after it has stopped', async () => {
    const { work, saved } = await withBackup();
    const key = await work.createKey();
    const server = await work.serve();
    const inUse = `DATABASE_URL: ${work.store} is in use by another process: stop the server before the restore`;
    expect(await work.run(['restore', '--force', 'backup.db'])).toEqual({
      status: 1,
      out: '',
      err: `animal-store: ${inUse}\n`,
    });
    const response = await listWith(server, key);
    expect(response.status).toBe(200);
    expect(await response.json()).toHaveLength(11);
    expect((await fetch(`${server.origin}/readyz`)).status).toBe(200);
    await stopService(server);
    expect(await work.output('restore', '--force', 'backup.db')).toContain('10 pets and 1 key');
    expect(await work.output('export')).toBe(saved);
    const restored = await work.serve();
    expect((await listWith(restored, key)).status).toBe(401);
    expect((await fetch(`${restored.origin}/readyz`)).status).toBe(200);
  });

  test('replaces the store of a killed server, which holds no lock', async () => {
    const { work, saved } = await withBackup();
    const server = await work.serve();
    server.child.kill('SIGKILL');
    await server.exit;
    expect((await work.run(['restore', 'backup.db'])).err).toContain('has 11 pets: --force replaces it');
    expect((await work.run(['restore', '--force', 'backup.db'])).status).toBe(0);
    expect(await work.output('export')).toBe(saved);
  });

  test('keeps the old store or has the restored one after kill -9 at any time', async () => {
    const { work, saved, current } = await withBackup(50_000);
    const seen = new Set<string>();
    for (let wait = 0; seen.size < 2 && wait < 4000; wait += 60) {
      await work.output('restore', '--force', 'backup.db');
      await work.run(['import', '-'], lines(1, 'later'));
      const running = work.start(['restore', '--force', 'backup.db']);
      await until(() => partialsIn(work) || running.child.exitCode !== null);
      await delay(wait);
      running.child.kill('SIGKILL');
      await endOf(running);
      const text = await work.output('export');
      expect(text === saved || text === current).toBe(true);
      seen.add(text);
      expect(await work.output('doctor', '--json')).toContain('"isSound": true');
    }
    expect(seen.size).toBe(2);
  });
});

function partialsIn({ folder }: Workspace): boolean {
  return readdirSync(folder).some((name) => name.endsWith('.partial'));
}

test(
  'a server that starts during a restore waits or fails, and serves only the restored store',
  TIMEOUT,
  async () => {
    const { work, saved } = await withBackup(50_000);
    const key = (await work.output('keys', 'create', '--name', 'late')).trim();
    const restoring = work.start(['restore', '--force', 'backup.db']);
    await until(() => partialsIn(work));
    const server = work.start(['serve'], undefined);
    expect((await endOf(restoring)).status).toBe(0);
    await until(() => server.out.stdout.includes('Listening') || server.child.exitCode !== null);
    if (server.child.exitCode !== null) expect(server.out.stderr).toMatch(/locked|replaced|start again/);
    else await stopService(server);
    expect(await work.output('export')).toBe(saved);
    expect(await work.output('keys', 'list')).not.toContain(key.slice(0, 9));
    expect(statSync(work.store).size).toBeGreaterThan(0);
  },
);
