/** The file of refused lines and the store change together, or neither changes. */

import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { describe, expect, type TestContext, test } from 'vitest';
import { identityOf, makeSpecialFiles } from '../../support/special-files.ts';
import { temporaryFolder } from '../sqlite/temporary-file.ts';
import { type CommandLine, commandLine, exportOf, line, type Run, withRex } from './cli.ts';
import { mountSmallDisk } from './small-disk.ts';

const INPUT = `${line('Mia')}oops\n`;

/** Invalid lines that need more space than a small disk has. */
const MANY_BAD = `${'x'.repeat(60)}\n`.repeat(20_000);

function importWith(
  cli: CommandLine,
  refused: string,
  stdin: string | Readable = INPUT,
  signal?: AbortSignal,
): Promise<Run> {
  const args = ['import', '--skip-invalid', '--refused', refused, '-'];
  return cli.run(args, { stdin, ...(signal && { signal }) });
}

/** Runs an import that must fail, change nothing in the store and leave no new file. */
async function failing(cli: CommandLine, refused: string, stdin?: string | Readable): Promise<string> {
  const [pets, files] = [await exportOf(cli), readdirSync(dirname(refused))];
  const { status, out, err } = await importWith(cli, refused, stdin);
  expect([status, out]).toEqual([1, '']);
  expect(await exportOf(cli)).toBe(pets);
  expect(readdirSync(dirname(refused))).toEqual(files);
  return err;
}

/** An input that calls a function halfway. */
function inputWith(event: () => void): Readable {
  return Readable.from(
    (function* () {
      yield Buffer.from(INPUT);
      event();
      yield Buffer.from(INPUT);
    })(),
  );
}

function smallDisk(skip: TestContext['skip'], size: string): string {
  const folder = join(temporaryFolder(), 'disk');
  mkdirSync(folder);
  if (!mountSmallDisk(folder, size)) skip('this user cannot mount a file system');
  return folder;
}

describe('when the file cannot be written, nothing is imported, so that a retry imports no pet twice', () => {
  test('on a full disk', async ({ skip }) => {
    const cli = await withRex();
    const refused = join(smallDisk(skip, '64k'), 'bad.ndjson');
    expect(await failing(cli, refused, MANY_BAD + line('Mia'))).toMatch(
      /^animal-store: cannot write .*bad\.ndjson: ENOSPC.*, nothing was imported\n$/,
    );
    writeFileSync(refused, 'earlier\n');
    await failing(cli, refused, MANY_BAD + line('Mia'));
    expect(readFileSync(refused, 'utf8')).toBe('earlier\n');
    expect((await importWith(cli, refused)).status).toBe(0);
    expect((await exportOf(cli)).match(/"name":"\w+"/g)).toEqual(['"name":"Rex"', '"name":"Mia"']);
  });

  test('on a full disk, even when all pets were read before', async ({ skip }) => {
    const cli = await withRex();
    const folder = smallDisk(skip, '64k');
    writeFileSync(join(folder, 'ballast'), 'x'.repeat(60 * 1024));
    await failing(cli, join(folder, 'bad.ndjson'), line('Mia') + MANY_BAD.slice(0, 10_000));
  });

  test('on a read-only disk, where an import without invalid lines works', async ({ skip }) => {
    const cli = await withRex();
    const folder = smallDisk(skip, '64k');
    spawnSync('mount', ['-o', 'remount,ro', folder]);
    const refused = join(folder, 'bad.ndjson');
    expect(await failing(cli, refused)).toMatch(/cannot write .*: EROFS.*, nothing was imported\n$/);
    expect((await importWith(cli, refused, line('Mia'))).status).toBe(0);
  });

  test('in a folder that does not exist, or is removed', async () => {
    const cli = await withRex();
    const folder = join(dirname(cli.path), 'folder');
    const missing = await importWith(cli, join(folder, 'bad.ndjson'), line('Mia'));
    expect(missing.err).toBe(`animal-store: --refused: the folder of ${folder}/bad.ndjson does not exist\n`);
    expect(missing.status).toBe(1);
    mkdirSync(folder);
    const input = inputWith(() => rmSync(folder, { recursive: true }));
    const before = await exportOf(cli);
    expect((await importWith(cli, join(folder, 'bad.ndjson'), input)).status).toBe(1);
    expect(await exportOf(cli)).toBe(before);
  });

  test('with a name that is too long', async () => {
    const cli = await withRex();
    await failing(cli, join(dirname(cli.path), 'x'.repeat(240)));
  });
});

describe('a file that appears during the import is not replaced, and nothing is imported', () => {
  const APPEARED =
    /cannot write .*: another program has created or changed this file in the meantime, nothing was imported\n$/;

  test('a regular file', async () => {
    const cli = await withRex();
    const refused = join(dirname(cli.path), 'bad.ndjson');
    const before = await exportOf(cli);
    const { err } = await importWith(
      cli,
      refused,
      inputWith(() => writeFileSync(refused, 'precious')),
    );
    expect(err).toMatch(APPEARED);
    expect(readFileSync(refused, 'utf8')).toBe('precious');
    expect(await exportOf(cli)).toBe(before);
    expect(readdirSync(dirname(cli.path)).toSorted()).toEqual(['bad.ndjson', 'pets.db']);
  });

  test('a file that replaces the file of an earlier import', async () => {
    const cli = await withRex();
    const folder = dirname(cli.path);
    const refused = join(folder, 'bad.ndjson');
    writeFileSync(refused, 'earlier');
    const input = inputWith(() => {
      writeFileSync(join(folder, 'other'), 'precious');
      renameSync(join(folder, 'other'), refused);
    });
    expect((await importWith(cli, refused, input)).err).toMatch(APPEARED);
    expect(readFileSync(refused, 'utf8')).toBe('precious');
    expect(readdirSync(folder).toSorted()).toEqual(['bad.ndjson', 'pets.db']);
  });

  test('a file that is not regular, with and without an earlier file', async () => {
    const cli = await withRex();
    const folder = dirname(cli.path);
    mkdirSync(join(folder, 'special'));
    const refused = join(folder, 'bad.ndjson');
    for (const [index, special] of (await makeSpecialFiles(join(folder, 'special'))).entries()) {
      const identity = identityOf(special);
      if (index % 2 === 0) writeFileSync(refused, 'earlier');
      const input = inputWith(() => {
        rmSync(refused, { force: true });
        renameSync(special, refused);
      });
      expect((await importWith(cli, refused, input)).err).toMatch(APPEARED);
      expect(identityOf(refused)).toBe(identity);
      rmSync(refused, { recursive: true });
    }
    expect(readdirSync(folder).toSorted()).toEqual(['pets.db', 'special']);
  });
});

describe('the file of an earlier import', () => {
  test('is replaced, also behind a symbolic link', async () => {
    const cli = await withRex();
    const folder = dirname(cli.path);
    const [file, link] = [join(folder, 'bad.ndjson'), join(folder, 'link')];
    writeFileSync(file, 'earlier');
    symlinkSync('bad.ndjson', link);
    const { status, err } = await importWith(cli, link);
    expect([status, err]).toEqual([0, `Skipped 1 line, see ${link}\n`]);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ line: 2, text: 'oops' });
    expect(readdirSync(folder).toSorted()).toEqual(['bad.ndjson', 'link', 'pets.db']);
  });

  test('is not replaced when another program writes to it during the import', async () => {
    const cli = await withRex();
    const refused = join(dirname(cli.path), 'bad.ndjson');
    writeFileSync(refused, 'earlier');
    const { status } = await importWith(
      cli,
      refused,
      inputWith(() => appendFileSync(refused, ', precious')),
    );
    expect([status, readFileSync(refused, 'utf8')]).toEqual([1, 'earlier, precious']);
  });

  test('is created again when it was removed during the import', async () => {
    const cli = await withRex();
    const refused = join(dirname(cli.path), 'bad.ndjson');
    writeFileSync(refused, 'earlier');
    expect(
      (
        await importWith(
          cli,
          refused,
          inputWith(() => rmSync(refused)),
        )
      ).status,
    ).toBe(0);
    expect(readFileSync(refused, 'utf8').trim().split('\n')).toHaveLength(2);
  });

  test('is unchanged when no line is refused', async () => {
    const cli = await withRex();
    const refused = join(dirname(cli.path), 'bad.ndjson');
    writeFileSync(refused, 'earlier');
    expect((await importWith(cli, refused, line('Mia'))).status).toBe(0);
    expect(readFileSync(refused, 'utf8')).toBe('earlier');
  });

  test.for([true, false])(
    'is restored when the store is full (it existed: %s)',
    async (isThere, { skip }) => {
      const cli = commandLine(join(smallDisk(skip, '512k'), 'pets.db'));
      await cli.run(['import', '-'], { stdin: line('Rex') });
      const refused = join(temporaryFolder(), 'bad.ndjson');
      if (isThere) {
        writeFileSync(refused, 'earlier');
        chmodSync(refused, 0o600);
      }
      const identity = isThere ? identityOf(refused) : undefined;
      const err = await failing(cli, refused, INPUT + line('x'.repeat(200)).repeat(5000));
      expect(err).toContain('the disk is full');
      expect(existsSync(refused)).toBe(isThere);
      if (!isThere) return;
      expect(readFileSync(refused, 'utf8')).toBe('earlier');
      expect(identityOf(refused)).toBe(identity);
      expect(statSync(refused).nlink).toBe(1);
    },
  );
});
