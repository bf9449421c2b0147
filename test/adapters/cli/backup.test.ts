/** Backups, and `doctor --backup`. */

import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { SPOIL } from '../../support/pets.ts';
import { connect } from '../../support/sqlite.ts';
import {
  addPets,
  type CommandLine,
  commandLine,
  exportOf,
  failed,
  failingOutput,
  line,
  storeOf,
} from './cli.ts';

async function withPets(): Promise<CommandLine & { readonly file: string }> {
  const cli = await storeOf([1, 2, 3].map((n) => line(n)).join(''));
  await cli.run(['keys', 'create', '--name', 'shop']);
  return { ...cli, file: join(dirname(cli.path), 'copy.db') };
}

/** Puts wrong values into an index. Only a check of the whole store finds them. */
function damageIndex(path: string): void {
  const db = connect(path);
  const index = (column: string) => `CREATE INDEX damaged ON api_keys (${column})`;
  db.exec(index('hint'));
  db.unsafeMode(true);
  db.exec(
    `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = '${index('name')}' WHERE name = 'damaged'`,
  );
  db.close();
}

describe('backup', () => {
  test('replaces a file only with --force, and prints its size', async () => {
    const cli = await withPets();
    const { run, file } = cli;
    writeFileSync(file, 'precious');
    expect(await run(['backup', file])).toEqual(failed(1, `${file} exists already: --force replaces it`));
    expect(readFileSync(file, 'utf8')).toBe('precious');
    const { status, out, err } = await run(['backup', '--force', file]);
    const bytes = statSync(file).size;
    const text = `Backed up to ${file}: ${bytes.toLocaleString('en-US')} bytes.\n`;
    expect({ status, out, err }).toEqual({ status: 0, out: text, err: '' });
    expect(await exportOf(commandLine(file))).toBe(await exportOf(cli));
    expect(JSON.parse((await run(['backup', '--force', '--json', file])).out)).toEqual({ file, bytes });
  });

  test('is cancelled by the signal, and leaves no file', async () => {
    const { run, file, path } = await withPets();
    const cancelled = await run(['backup', file], { signal: AbortSignal.abort() });
    expect(cancelled).toEqual(failed(1, 'interrupted; nothing was backed up'));
    expect(readdirSync(dirname(path))).toEqual(['pets.db']);
  });
});

describe('backup --verify', () => {
  test('checks the copy, compares it with the store, and says so in one line', async () => {
    const { run, file } = await withPets();
    const { status, out, err } = await run(['backup', '--verify', file]);
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(/ bytes, verified: 3 pets up to id 3 and 1 key, as in the store\.\n$/);
    const json = await run(['backup', '--verify', '--force', '--json', file]);
    expect(JSON.parse(json.out)).toMatchObject({ file, verified: true, pets: 3, apiKeys: 1, lastId: '3' });
  });

  test('a damaged copy is not written, and the older backup stays', async () => {
    const { run, path, file } = await withPets();
    writeFileSync(file, 'older');
    damageIndex(path);
    const { status, out, err } = await run(['backup', '--verify', '--force', file]);
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(
      /copy\.db was not written: the copy is damaged: .*row 1.*[Ll]ook at the store with animal-store doctor/,
    );
    expect(readFileSync(file, 'utf8')).toBe('older');
  });

  test.skipIf(SPOIL === '')(
    'a pet that breaks a rule is named, and the copy is kept, but does not count as verified',
    async () => {
      const { run, path, file } = await withPets();
      const db = connect(path);
      const [rule, set] = SPOIL.split(';');
      db.exec(`${rule}; ${set} WHERE id = 2`);
      db.close();
      for (const [code, fault] of [
        ['EPIPE', 'does not count as verified: correct these pets in the store'],
        ['ENOSPC', 'standard output cannot be written'],
      ] as const) {
        const args = ['backup', '--verify', '--force', file];
        const { status, err } = await run(args, { stdout: failingOutput(code) });
        expect(status).toBe(1);
        expect(err).toMatch(/^error: pet 2 was changed by another program, or is older than the rule: /m);
        expect(err).toContain(fault);
      }
      expect(existsSync(file)).toBe(true);
    },
  );
});

test('doctor --backup describes a sound backup, which has fewer pets than the store', async () => {
  const { run, file, path } = await withPets();
  await run(['backup', file]);
  await addPets(path, line(1));
  const before = readFileSync(file);
  const { status, out } = await run(['doctor', '--backup', file]);
  expect(out).toMatch(/^backup\.lastId +3$/m);
  expect(status).toBe(0);
  expect(readFileSync(file).equals(before)).toBe(true);
  const { backup } = JSON.parse((await run(['doctor', '--json', '--backup', file])).out);
  expect(backup).toEqual({ file, pets: 3, apiKeys: 1, lastId: '3' });
});
