/**
 * Imports and exports as processes of their own: pipes and signals.
 * test/faults/transfer.faults.ts interrupts them at more moments, and has more pets and more load.
 */

import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { until } from '../support/clock.ts';
import { BIN, runCommand } from '../support/process.ts';
import { endOf, lines, Workspace } from './workspace.ts';

/** Pets whose export does not fit into a pipe and the buffers at its ends. */
const MANY = lines(5000, 'x'.repeat(200));

test('export and import work through the pipe of a shell, and import copies another store by itself', async () => {
  const work = new Workspace();
  await work.outputHere(['import', '--create-store', '-'], lines(5000));
  const env = { DATABASE_URL: `sqlite:${work.store}`, NODE: process.execPath, BIN };
  const script = `"$NODE" "$BIN" export | "$NODE" "$BIN" import --create-store --database-url sqlite:copy.db -
    "$NODE" "$BIN" import --create-store --database-url sqlite:copy2.db sqlite:pets.db`;
  const { exit, out } = runCommand('sh', ['-ec', script], { cwd: work.folder, env });
  expect(await exit, out.stderr).toEqual({ code: 0, signal: null });
  expect(out.stdout).toMatch(/^Imported 5,000 pets\.\nImported 5,000 pets from .*pets\.db\.\n$/);
  const exported = await work.outputHere(['export']);
  for (const name of ['copy.db', 'copy2.db'])
    expect(await work.outputHere(['export', '--database-url', `sqlite:${work.path(name)}`])).toBe(exported);
});

test('an import that waits for the writer of a FIFO is interrupted by SIGINT', async () => {
  const work = new Workspace();
  expect(spawnSync('mknod', [work.path('fifo'), 'p']).status).toBe(0);
  const running = work.start(['import', '--create-store', '--skip-invalid', 'fifo']);
  await until(() => readdirSync(work.folder).includes('pets.db'));
  running.child.kill('SIGINT');
  const err = 'animal-store: interrupted; nothing was imported\n';
  expect(await endOf(running)).toMatchObject({ status: 1, err });
  expect(new Set(readdirSync(work.folder))).toEqual(new Set(['fifo', 'pets.db']));
});

test('an export whose reader stops early prints no error', async () => {
  const work = new Workspace();
  await work.outputHere(['import', '--create-store', '-'], MANY);
  const running = work.start(['export']);
  const { stdout } = running.child;
  stdout?.once('data', () => stdout.destroy());
  expect(await endOf(running)).toMatchObject({ status: 0, err: '' });
});
