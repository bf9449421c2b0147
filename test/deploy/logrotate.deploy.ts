/** The rotation of a log file with the configuration in `deploy`, while a server writes to it. */

import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { startFaultsServer } from '../faults/server.ts';
import { temporaryFolder } from '../support/process.ts';
import { DEPLOY } from './unit.ts';

const hasLogrotate = spawnSync('logrotate', ['--version']).status === 0;
const NOTE = hasLogrotate ? '' : ' (skipped: logrotate is not installed)';
const ROTATIONS = 10;

/** Returns a function that rotates the log of a folder with the configuration in `deploy`. */
function rotationOf(folder: string): () => void {
  const [config, state] = [join(temporaryFolder(), 'config'), join(temporaryFolder(), 'state')];
  const text = readFileSync(join(DEPLOY, 'logrotate'), 'utf8');
  expect(text).toContain('/var/log/animal-store/*.log {');
  writeFileSync(config, text.replace('/var/log/animal-store/*.log', join(folder, 'log')), { mode: 0o644 });
  return () => void execFileSync('logrotate', ['--force', '--state', state, config]);
}

/** The rotated logs and the log itself, in the order in which they were written. */
function logsOf(folder: string): string[] {
  const numbers = readdirSync(folder).map((name) => Number(/^log\.(\d+)\.gz$/.exec(name)?.[1] ?? Number.NaN));
  const rotated = numbers.filter((number) => !Number.isNaN(number)).toSorted((a, b) => b - a);
  return [
    ...rotated.map((number) => gunzipSync(readFileSync(join(folder, `log.${number}.gz`))).toString()),
    readFileSync(join(folder, 'log'), 'utf8'),
  ];
}

test.skipIf(!hasLogrotate && !process.env['CI'])(
  `the log continues in a truncated file, and only lines of the moment of a copy are lost${NOTE}`,
  async () => {
    const folder = temporaryFolder();
    const server = await startFaultsServer({
      env: { LOG_LEVEL: 'info' },
      folder,
      stderr: join(folder, 'log'),
    });
    const rotate = rotationOf(folder);
    let isOver = false;
    let requests = 0;
    const load = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        expect((await server.client.get('/v1/pets')).status).toBe(200);
        requests++;
      }
    });
    for (let rotation = 0; rotation < ROTATIONS; rotation++) {
      await sleep(500);
      rotate();
    }
    await sleep(500);
    isOver = true;
    await Promise.all(load);
    expect((await server.stop()).code).toBe(0);

    const logs = logsOf(folder);
    expect(logs).toHaveLength(ROTATIONS + 1);
    let written = 0;
    let broken = 0;
    for (const log of logs) {
      expect(log).not.toBe('');
      expect(log).not.toContain('\0');
      const lines = log.split('\n');
      // The copy can end in the middle of a line.
      if (lines.pop() !== '') broken++;
      for (const line of lines) if (JSON.parse(line).route === '/v1/pets') written++;
    }
    console.log(
      `${requests} requests, ${requests - written} lines lost in ${ROTATIONS} rotations, ${broken} broken`,
    );
    expect(requests - written).toBeLessThan(requests / 100);
  },
);
