/** The file of refused lines is durable before the store changes, and replaces an earlier file only after that. */

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
import { describe, expect, test } from 'vitest';
import { openMemoryStorage } from '../../../../src/adapters/memory/index.ts';
import { temporaryFolder } from '../../../support/process.ts';
import { canMount, mountNote, SmallDisk } from '../../../support/small-disk.ts';
import { identityOf } from '../../../support/special-files.ts';
import {
  type CommandLine,
  commandLine,
  exportOf,
  failed,
  inMemory,
  line,
  type Run,
  withRex,
} from '../cli.ts';

const INPUT = `${line('Mia')}oops\n`;

/** Invalid lines that need more space than a small disk has. */
const MANY_BAD = `${'x'.repeat(60)}\n`.repeat(20_000);

function importWith(
  cli: CommandLine,
  refused: string,
  stdin: string | Readable = INPUT,
  signal?: AbortSignal,
): Promise<Run> {
  const args = ['import', '--skip-invalid', '--refused', refused, '--force', '-'];
  return cli.run(args, { stdin, ...(signal && { signal }) });
}

/** A store, and the path of a file in its folder, with the content of an earlier import or without a file. */
async function withTarget(earlier?: string): Promise<{ cli: CommandLine; refused: string }> {
  const cli = await withRex();
  const refused = join(dirname(cli.path), 'bad.ndjson');
  if (earlier !== undefined) writeFileSync(refused, earlier);
  return { cli, refused };
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

describe('when the file cannot be written, nothing is imported, so that a retry imports no pet twice', () => {
  test.skipIf(!canMount)(`on a full disk${mountNote}`, async () => {
    const cli = await withRex();
    const refused = join(new SmallDisk('64k').folder, 'bad.ndjson');
    expect(await failing(cli, refused, MANY_BAD + line('Mia'))).toMatch(
      /^animal-store: cannot write .*bad\.ndjson: the disk is full \(ENOSPC\); nothing was imported\n$/m,
    );
    writeFileSync(refused, 'earlier\n');
    await failing(cli, refused, MANY_BAD + line('Mia'));
    expect(readFileSync(refused, 'utf8')).toBe('earlier\n');
    expect((await importWith(cli, refused)).status).toBe(0);
    expect((await exportOf(cli)).match(/"name":"\w+"/g)).toEqual(['"name":"Rex"', '"name":"Mia"']);
  });

  test.skipIf(!canMount)(
    `on a read-only disk, where an import without invalid lines works${mountNote}`,
    async () => {
      const cli = await withRex();
      const disk = new SmallDisk('64k');
      disk.makeReadOnly();
      const refused = join(disk.folder, 'bad.ndjson');
      expect(await failing(cli, refused)).toMatch(
        /cannot write .*: the file system is read-only \(EROFS\); nothing was imported\n$/,
      );
      expect((await importWith(cli, refused, line('Mia'))).status).toBe(0);
    },
  );

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
});

test('a file that appears during the import is not replaced, and nothing is imported', async () => {
  const { cli, refused } = await withTarget();
  const before = await exportOf(cli);
  const input = inputWith(() => writeFileSync(refused, 'precious'));
  const { err } = await importWith(cli, refused, input);
  expect(err).toMatch(
    /cannot write .*: another program has created or changed this file in the meantime; nothing was imported\n$/,
  );
  expect(readFileSync(refused, 'utf8')).toBe('precious');
  expect(await exportOf(cli)).toBe(before);
  expect(readdirSync(dirname(cli.path)).toSorted()).toEqual(['bad.ndjson', 'pets.db']);
});

test('a file that appears after the pets were stored is not replaced, and the lines stay beside it', async () => {
  const refused = join(temporaryFolder(), 'bad.ndjson');
  const storage = openMemoryStorage();
  const cli = inMemory({
    ...storage,
    transfer: {
      exportPets: () => storage.transfer.exportPets(),
      async importPets(batches, options) {
        const count = await storage.transfer.importPets(batches, options);
        writeFileSync(refused, 'precious');
        return count;
      },
    },
  });
  const { status, out, err } = await importWith(cli, refused);
  const [, reason, partial = ''] =
    /^animal-store: imported 1 pet, but (.*); the skipped lines are in (.*)\n$/.exec(err) ?? [];
  expect([status, out, reason]).toEqual([
    1,
    '',
    `cannot write ${refused}: another program has created or changed this file in the meantime`,
  ]);
  expect(readFileSync(refused, 'utf8')).toBe('precious');
  expect(JSON.parse(readFileSync(partial, 'utf8'))).toMatchObject({ line: 2, text: 'oops' });
  expect(await exportOf(cli)).toContain('Mia');
});

describe('an existing file is neither replaced nor followed without --force', () => {
  const args = ['import', '--skip-invalid'];

  /** A store, an input with an invalid line, and a private file behind a symbolic link. */
  async function prepare() {
    const cli = await withRex();
    const folder = dirname(cli.path);
    const [input, file, link] = [join(folder, 'in'), join(folder, 'precious'), join(folder, 'link')];
    writeFileSync(input, INPUT);
    writeFileSync(file, 'precious', { mode: 0o600 });
    symlinkSync('precious', link);
    return { cli, input, file, link };
  }

  test('when --refused names it', async () => {
    const { cli, input, file, link } = await prepare();
    const before = await exportOf(cli);
    for (const name of [file, link]) {
      const run = await cli.run([...args, '--refused', name, input]);
      const err = `animal-store: ${name} exists already: --force replaces it\n`;
      expect(run).toEqual({ status: 2, out: '', err });
    }
    expect([readFileSync(file, 'utf8'), await exportOf(cli)]).toEqual(['precious', before]);
  });

  test.each([false, true])('when it has the default name (behind a symbolic link: %s)', async (isLink) => {
    const { cli, input, file, link } = await prepare();
    const name = `${input}.refused.ndjson`;
    renameSync(isLink ? link : file, name);
    const before = await exportOf(cli);
    const advice = 'exists already: select another file with --refused';
    expect(await cli.run([...args, input])).toEqual(failed(2, `${name} ${advice}`));
    expect([readFileSync(name, 'utf8'), await exportOf(cli)]).toEqual(['precious', before]);
    expect(await cli.run([...args, '--force', input])).toMatchObject({
      status: 2,
      err: 'animal-store: --force requires --refused (see animal-store import --help)\n',
    });
  });
});

describe('the file of an earlier import', () => {
  test.each([0o600, 0o664])('keeps its permissions: %o', async (mode) => {
    const { cli, refused } = await withTarget('earlier');
    chmodSync(refused, mode);
    expect((await importWith(cli, refused)).status).toBe(0);
    expect(readFileSync(refused, 'utf8')).toContain('oops');
    expect(statSync(refused).mode & 0o777).toBe(mode);
  });

  test('is replaced with --force, also behind a symbolic link', async () => {
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
    const { cli, refused } = await withTarget('earlier');
    const input = inputWith(() => appendFileSync(refused, ', precious'));
    const { status } = await importWith(cli, refused, input);
    expect([status, readFileSync(refused, 'utf8')]).toEqual([1, 'earlier, precious']);
  });

  test('is created again when it was removed during the import', async () => {
    const { cli, refused } = await withTarget('earlier');
    const input = inputWith(() => rmSync(refused));
    expect((await importWith(cli, refused, input)).status).toBe(0);
    expect(readFileSync(refused, 'utf8').trim().split('\n')).toHaveLength(2);
  });

  test('is unchanged when no line is refused', async () => {
    const { cli, refused } = await withTarget('earlier');
    expect((await importWith(cli, refused, line('Mia'))).status).toBe(0);
    expect(readFileSync(refused, 'utf8')).toBe('earlier');
  });

  test.skipIf(!canMount).for([true, false])(
    `is restored when the store is full (it existed: %s)${mountNote}`,
    async (isThere) => {
      const cli = commandLine(join(new SmallDisk('512k').folder, 'pets.db'));
      await cli.run(['import', '--create-store', '-'], { stdin: line('Rex') });
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
