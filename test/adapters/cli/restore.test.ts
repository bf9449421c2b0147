/** The output of `restore`. The tests of the SQLite adapter show what a restore does to the files. */

import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { restoreSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { temporaryFolder } from '../../support/process.ts';
import {
  addPets,
  type CommandLine,
  commandLine,
  copiesOf,
  exportOf,
  failed,
  failingOutput,
  line,
} from './cli.ts';

interface BackedUp {
  /** Its store has a revoked key, a later key, and two pets, of which the second was created after the backup. */
  readonly cli: CommandLine;
  /** The path of the backup, which has the first key before its revocation, and the pet Rex. */
  readonly backup: string;
}

const REX = line(1).replace('{', '{"id":1,');

const original = copiesOf(async (cli) => {
  await addPets(cli.path, line(1));
  await cli.run(['keys', 'create', '--name', 'shop']);
});

async function withBackup(): Promise<BackedUp> {
  const cli = await original();
  const backup = join(temporaryFolder(), 'backup.db');
  await cli.run(['backup', backup]);
  await addPets(cli.path, line(2));
  await cli.run(['keys', 'revoke', '1']);
  await cli.run(['keys', 'create', '--name', 'later']);
  return { cli, backup };
}

describe('restore', () => {
  test('makes a store that does not exist, and prints what it has', async () => {
    const { backup } = await withBackup();
    const cli = commandLine(join(temporaryFolder(), 'new', 'pets.db'));
    const { status, out, err } = await cli.run(['restore', backup]);
    expect([status, err]).toEqual([0, '']);
    expect(out).toBe(`Restored ${cli.path} from ${backup}: 1 pet and 1 key, ids go on after 1.\n`);
    expect(await exportOf(cli)).toBe(REX);
  });

  test('with --force says what the backup lacks, which keys are valid again, and where the old store is', async () => {
    const { cli, backup } = await withBackup();
    const before = await exportOf(cli);
    expect(await cli.run(['restore', backup])).toEqual(
      failed(1, `${cli.path} has 2 pets: --force replaces it`),
    );
    const { status, err } = await cli.run(['restore', '--force', backup]);
    expect(status).toBe(0);
    const kept = `${cli.path}.before-restore`;
    expect(err).toMatch(
      /^The backup lacks 1 pet and 1 key of the replaced store\.\nKey 1 \(shop, pets_\w{4}…\) is valid again or for longer: to revoke it, run animal-store keys revoke 1, with the same settings\n/,
    );
    expect(err).toContain(`\nThe replaced store is kept in ${kept}\n`);
    expect((await cli.run(['restore', '--force', backup])).err).toBe(
      'The replaced store had the same pets and keys, so the one kept before it stays.\n',
    );
    expect(await exportOf(commandLine(kept))).toBe(before);
    expect(await exportOf(cli)).toBe(REX);
    expect((await cli.run(['keys', 'list'])).out).toMatch(/^1 .* active .*\n$/m);
    expect(JSON.parse((await cli.run(['restore', '--force', '--json', kept])).out)).toMatchObject({
      store: cli.path,
      pets: 2,
      apiKeys: 2,
      lastId: '2',
      lost: { pets: 0, apiKeys: 0 },
      revivedKeys: [],
      setAside: [`${kept}-2`],
      problems: [],
    });
  });
});

test('the problems of a restored store are printed, escaped, although the result cannot be', async () => {
  const { backup } = await withBackup();
  const { path, run } = commandLine(undefined, {
    restoreStore: async (_, file, how) => ({
      ...(await restoreSqliteStore(path, file, how)),
      lost: { pets: undefined, apiKeys: 3 },
      revivedPets: 2,
      setAside: ['kept.db'],
      problems: [
        { severity: 'error', message: 'pet 1 breaks a rule' },
        { severity: 'warning', message: 'forged\nline' },
      ],
    }),
  });
  const { status, err } = await run(['restore', backup], { stdout: failingOutput('ENOSPC') });
  const notices = `The backup lacks 3 keys of the replaced store.
The backup has 2 pets that the replaced store had removed.
The replaced store is kept in kept.db\n`;
  const found = 'error: pet 1 breaks a rule\nwarning: forged\\u000aline\n';
  expect([status, err.split('Restored ')]).toEqual([1, [notices + found, expect.stringContaining('ENOSPC')]]);
});

test('a signal cancels a restore, and the store is unchanged', async () => {
  const { cli, backup } = await withBackup();
  const before = await exportOf(cli);
  const run = await cli.run(['restore', '--force', backup], { signal: AbortSignal.abort() });
  expect(run).toEqual(failed(1, 'interrupted; nothing was restored'));
  expect(await exportOf(cli)).toBe(before);
  expect(readdirSync(dirname(cli.path))).toEqual(['pets.db']);
});
