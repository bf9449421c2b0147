/** Imports and backups of many pets that are interrupted. */

import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { newPetJson } from '../../src/domain/pet-json.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';
import { until } from '../support/clock.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { exportOf, storeWith } from './commands.ts';
import { startFaultsServer } from './server.ts';

const MANY = 200_000;
const TIMEOUT = { timeout: 120_000 };

test.each(['SIGKILL', 'SIGINT', 'SIGTERM'] as const)(
  'an import that is interrupted by %s leaves the store unchanged',
  TIMEOUT,
  async (signal) => {
    const work = await storeWith(10, 'before');
    const { folder } = work;
    const before = await exportOf(folder);
    writeFileSync(join(folder, 'many'), `${newPetJson(samplePet('x'.repeat(200)))}\n`.repeat(MANY));
    // The import stores pages before its commit, in a file of its own or in the write-ahead log of the store.
    const sizeOfFolder = () =>
      readdirSync(folder).reduce(
        (sum, name) => sum + (statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
    const size = sizeOfFolder();
    const { child, exit, out } = work.start(['import', 'many']);
    await until(() => sizeOfFolder() > size + 1_000_000 || child.exitCode !== null);
    child.kill(signal);
    const { code } = await exit;
    expect(code, out.stderr).toBe(signal === 'SIGKILL' ? null : 1);
    expect(await exportOf(folder), BROKEN_PROMISE).toEqual(before);
    const server = await startFaultsServer({ folder });
    expect(JSON.parse((await server.client.get('/v1/pets')).body)).toHaveLength(10);
    await server.stop();
  },
);

test('a backup that is killed leaves no file at its target', TIMEOUT, async () => {
  const work = await storeWith(MANY, 'x'.repeat(200));
  const { folder } = work;
  const killed = async (): Promise<number | null> => {
    const { child, exit } = work.start(['backup', 'copy.db']);
    await until(() => readdirSync(folder).some((name) => name.startsWith('copy.db')));
    child.kill('SIGKILL');
    return (await exit).code;
  };
  // A backup that ended before the signal arrived is repeated.
  await until(async () => {
    rmSync(join(folder, 'copy.db'), { force: true });
    return (await killed()) !== 0;
  });
  expect(existsSync(join(folder, 'copy.db'))).toBe(false);
});
