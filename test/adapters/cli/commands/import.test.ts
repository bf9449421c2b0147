import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { commandLine, exportOf, line, storeOf, withRex } from '../cli.ts';

const INT64_MAX = '9223372036854775807';

test.each([
  [9223372036854775807n, 'error', 'all ids have been assigned'],
  [9223372036854775800n, 'warning', 'only 7 ids are left for new pets'],
  [1n, '', ''],
])('the last id %d leaves few ids, which import and doctor say', async (id, severity, message) => {
  const cli = commandLine();
  const stdin = `{"id":${id},"name":"Rex","categoryId":1}\n`;
  const { status, err } = await cli.run(['import', '--create-store', '-'], { stdin });
  expect(status).toBe(0);
  const { problems } = JSON.parse((await cli.run(['doctor', '--json'])).out);
  const about = problems.filter(({ message: text }: { message: string }) => text.includes(' ids '));
  expect(about.map((problem: { severity: string }) => problem.severity)).toEqual(
    severity === '' ? [] : [severity],
  );
  expect(err.includes(`${severity}: ${message}: export the pets`)).toBe(severity !== '');
});

describe('import', () => {
  test('stores the pets of a file, and prints their number', async () => {
    const cli = commandLine();
    const file = join(dirname(cli.path), 'pets.ndjson');
    writeFileSync(file, `${line('Rex')}\r\n  \n${line('Mia', ',"status":"sold","extra":[1]').trim()}`);
    const { status, out, err } = await cli.run(['import', '--create-store', file]);
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(/^Imported 2 pets in [\d.]+ m?s( \(.*\/s\))?\.\n$/);
    expect(await exportOf(cli)).toBe(
      '{"id":1,"name":"Rex","categoryId":1,"status":"available"}\n' +
        '{"id":2,"name":"Mia","categoryId":1,"status":"sold"}\n',
    );
  });

  test('--json', async () => {
    const { out } = await commandLine().run(['import', '--create-store', '-', '--json'], {
      stdin: line('Rex'),
    });
    expect(JSON.parse(out)).toEqual({ imported: 1, skipped: 0, milliseconds: expect.any(Number) });
  });

  test.each([
    ['{"name":"Rex"}', 'categoryId is required'],
    ['{"name":"Rex","categoryId":9007199254740993.5}', 'categoryId must be an integer'],
    ['{"name":"\\ud800","categoryId":1}', 'well-formed'],
    ['{"id":0,"name":"Rex","categoryId":1}', 'id must be an integer from 1'],
    ['{"id":7,"name":"Rex","categoryId":1}', 'id must be left out'],
    ['[]', 'expected a JSON object'],
    ['null', 'expected a JSON object'],
    ['{"name":"Rex","categoryId":01}', 'invalid JSON'],
    [`{"name":"${'x'.repeat(70_000)}"}`, 'longer than 64 KiB'],
  ])('%s is refused: %s', async (bad, reason) => {
    const cli = await withRex();
    const before = await exportOf(cli);
    const stdin = `${line('Mia')}${line('Max')}${bad}\n${line('Tom')}`;
    const { status, out, err } = await cli.run(['import', '--create-store', '-'], { stdin });
    expect([status, out]).toEqual([1, '']);
    expect(err).toMatch(/^animal-store: line 3: .*; nothing was imported\n$/);
    expect(err).toContain(reason);
    expect(await exportOf(cli)).toBe(before);
  });

  test.each([
    ['[{"name":"Rex"}]', 'an array: write each pet on a line of its own'],
    ['\n[\n', 'an array: write each pet on a line of its own'],
    ['PK\u0003\u0004', 'a zip archive: extract the file'],
    ['BZh91AY', 'data that bzip2 has compressed: decompress the file'],
    ['\xfd7zXZ\0', 'data that xz has compressed: decompress the file'],
    ['\x28\xb5\x2f\xfd', 'data that zstd has compressed: decompress the file'],
    ['SQLite format 3\0', 'a SQLite database: animal-store restore accepts a backup'],
    ['PGDMP', 'a dump of PostgreSQL: pg_restore accepts it'],
    ['<!doctype html>', 'a page of HTML or XML, such as the error of a proxy'],
    [Buffer.from('\ufeff{}', 'utf16le').toString('latin1'), 'a text in UTF-16: convert the file to UTF-8'],
    [Buffer.from('{}', 'utf16le').toString('latin1'), 'a text in UTF-16: convert the file to UTF-8'],
  ])('of another format is refused: %j', async (text, reason) => {
    for (const bytes of [Buffer.from(text, 'latin1'), gzipSync(Buffer.from(text, 'latin1'))]) {
      const args = ['import', '--create-store', '--skip-invalid', '-'];
      const { status, err } = await commandLine().run(args, { stdin: Readable.from([bytes]) });
      expect([status, err]).toEqual([
        1,
        expect.stringContaining(`expected one pet in JSON per line, got ${reason}`),
      ]);
    }
  });

  test('of bytes that are not UTF-8 is refused with the line', async () => {
    const stdin = Readable.from([Buffer.from(line('Rex')), Buffer.from(line('é'), 'latin1')]);
    const { err } = await commandLine().run(['import', '--create-store', '-'], { stdin });
    expect(err).toBe(
      'animal-store: line 2: invalid UTF-8 (--skip-invalid leaves out invalid lines); nothing was imported\n',
    );
  });

  test('of an unreadable file creates no store', async () => {
    const cli = commandLine();
    const folder = join(dirname(cli.path), 'folder');
    const { status, err } = await cli.run(['import', join(dirname(cli.path), 'missing')]);
    expect([status, existsSync(cli.path)]).toEqual([1, false]);
    expect(err).toMatch(/^animal-store: cannot read .*missing: there is no such file \(ENOENT\)\n$/);
    mkdirSync(folder);
    expect((await cli.run(['import', folder])).err).toMatch(
      /^animal-store: cannot read .*folder: expected a file, got a directory\n$/,
    );
  });

  test('of an input that fails halfway imports nothing', async () => {
    const cli = await withRex();
    const before = await exportOf(cli);
    const stdin = Readable.from(
      (function* () {
        yield Buffer.from(line('Mia'));
        throw new Error('the cable is out');
      })(),
    );
    const { status, err } = await cli.run(['import', '--create-store', '-'], { stdin });
    expect([status, err]).toEqual([
      1,
      'animal-store: cannot read standard input: the cable is out; nothing was imported\n',
    ]);
    expect(await exportOf(cli)).toBe(before);
  });
});

describe('import of pets with ids', () => {
  const stdin = line('Mia', ',"id":9').concat(line('Max', `,"id":${INT64_MAX}`), line('Tom', ',"id":3'));

  test('keeps them in a store that is empty', async () => {
    const cli = await storeOf(stdin);
    expect((await exportOf(cli)).match(/(?<="id":)\d+/g)).toEqual(['3', '9', INT64_MAX]);
  });

  test('is refused by a store that is not, unless new ids are wanted', async () => {
    const cli = await withRex();
    const before = await exportOf(cli);
    const { status, err } = await cli.run(['import', '--create-store', '-'], { stdin });
    expect(status).toBe(1);
    expect(err).toBe(
      'animal-store: ids can be imported only into a store that has never had a pet (--new-ids assigns new ids); nothing was imported\n',
    );
    expect(await exportOf(cli)).toBe(before);
    expect((await cli.run(['import', '--create-store', '-', '--new-ids'], { stdin })).status).toBe(0);
    expect((await exportOf(cli)).match(/(?<="id":)\d+/g)).toEqual(['1', '2', '3', '4']);
  });

  test('names the line of a duplicate id', async () => {
    const cli = commandLine();
    const again = stdin + line('Ida', ',"id":9');
    expect((await cli.run(['import', '--create-store', '-'], { stdin: again })).err).toBe(
      'animal-store: line 4: duplicate id 9 (--skip-invalid leaves out invalid lines); nothing was imported\n',
    );
    expect(await exportOf(cli)).toBe('');
  });
});

describe('import --skip-invalid', () => {
  test('writes the skipped lines to a file, with line numbers and reasons', async () => {
    const cli = commandLine();
    const folder = dirname(cli.path);
    const file = join(folder, 'pets.ndjson');
    const invalid = `${line('Rex', ',"id":1')}oops\n${line('Mia')}${line('Max', ',"id":1')}${line('Tom', ',"id":2')}`;
    writeFileSync(file, invalid);
    const args = ['import', '--create-store', '--skip-invalid', '--json', file];
    const { status, out, err } = await cli.run(args);
    expect([status, err]).toEqual([0, '']);
    const refused = `${file}.refused.ndjson`;
    expect(JSON.parse(out)).toMatchObject({ imported: 2, skipped: 3, refusedFile: refused });
    const lines = readFileSync(refused, 'utf8').trim().split('\n');
    expect(lines.map((text) => JSON.parse(text))).toEqual([
      { line: 2, reason: expect.stringContaining('invalid JSON'), text: 'oops' },
      { line: 3, reason: 'id is required: either all pets have an id or none has', text: line('Mia').trim() },
      { line: 4, reason: 'duplicate id 1', text: line('Max', ',"id":1').trim() },
    ]);
    expect((await exportOf(cli)).match(/(?<="name":")\w+/g)).toEqual(['Rex', 'Tom']);
    expect(readdirSync(folder).filter((name) => name.includes('partial'))).toEqual([]);
  });

  test('refuses lines in their order, whether the command or the application refuses them', async () => {
    const cli = commandLine();
    const refused = join(dirname(cli.path), 'bad');
    const stdin = `${line('Rex', ',"id":1')}[]\n${line('')}oops\n${line('Mia', ',"id":1')}null\n${line('Tom', ',"id":2')}7\n`;
    const args = ['import', '--create-store', '--skip-invalid', '--refused', refused, '-'];
    const { status } = await cli.run(args, { stdin });
    expect(status).toBe(0);
    const lines = readFileSync(refused, 'utf8').trim().split('\n');
    expect(lines.map((text) => JSON.parse(text).line)).toEqual([2, 3, 4, 5, 6, 8]);
    expect((await exportOf(cli)).match(/(?<="name":")\w+/g)).toEqual(['Rex', 'Tom']);
    const { err } = await commandLine().run(['import', '--create-store', '-'], { stdin: line('') + stdin });
    expect(err).toMatch(/^animal-store: line 1: /);
  });

  test('creates no file when no line is refused, or nothing is imported', async () => {
    const cli = await withRex();
    const refused = join(dirname(cli.path), 'bad');
    const args = ['import', '--skip-invalid', '--refused', refused, '-'];
    expect((await cli.run(args, { stdin: line('Mia') })).status).toBe(0);
    expect((await cli.run(args, { stdin: `oops\n${line('Tom', ',"id":3')}` })).status).toBe(1);
    expect(existsSync(refused)).toBe(false);
    expect(readdirSync(dirname(cli.path)).filter((name) => name.includes('partial'))).toEqual([]);
  });
});

describe('import --dry-run', () => {
  const args = ['import', '--dry-run', '-'];

  test('says how many pets can be imported, and imports none', async () => {
    const cli = await withRex();
    const before = await exportOf(cli);
    const { status, out, err } = await cli.run(args, { stdin: line('Mia') + line('Max') });
    expect([status, err]).toEqual([0, '']);
    expect(out).toMatch(/^Dry run: 2 pets can be imported in [\d.]+ m?s( \(.*\/s\))?\.\n$/);
    expect(JSON.parse((await cli.run([...args, '--json'], { stdin: line('Mia') })).out)).toEqual({
      dryRun: true,
      imported: 0,
      importable: 1,
      skipped: 0,
      milliseconds: expect.any(Number),
    });
    expect(await exportOf(cli)).toBe(before);
  });

  test('makes every check of an import', async () => {
    const cli = await withRex();
    for (const [stdin, reason] of [
      [`${line('Mia')}oops\n`, 'line 2: invalid JSON'],
      [line(''), 'line 1: name must have'],
      [line('Mia', ',"id":9'), 'ids can be imported only into a store that has never had a pet'],
    ] as const) {
      const dry = await cli.run(args, { stdin });
      expect(dry.err).toContain(reason);
      expect(dry).toEqual(await cli.run(['import', '--create-store', '-'], { stdin }));
    }
  });

  test('writes the file of invalid lines, and counts duplicate ids', async () => {
    const cli = await storeOf();
    const refused = join(dirname(cli.path), 'bad');
    const stdin = line('Mia', ',"id":9').repeat(2) + line('Max');
    const options = [...args, '--skip-invalid', '--refused', refused, '--json'];
    const { out } = await cli.run(options, { stdin });
    expect(JSON.parse(out)).toMatchObject({ importable: 1, skipped: 2, refusedFile: refused });
    expect(readFileSync(refused, 'utf8').trim().split('\n')).toHaveLength(2);
    expect(await exportOf(cli)).toBe('');
  });

  test('creates no store', async () => {
    const cli = commandLine();
    const { status, err } = await cli.run(args, { stdin: line('Mia') });
    expect([status, err]).toEqual([1, `animal-store: ${cli.path}: there is no such file\n`]);
    expect(readdirSync(dirname(cli.path))).toEqual([]);
  });
});

test('an import from a terminal says that it waits, and how to end', async () => {
  const run = async (isTTY: boolean) => {
    const stdin = Object.assign(Readable.from([Buffer.from(line('Rex'))]), { isTTY });
    return (await commandLine().run(['import', '--create-store', '-'], { stdin })).err;
  };
  expect(await run(true)).toBe(
    'Waiting for pets on standard input, one in JSON per line. Ctrl-D ends the input, Ctrl-C the import.\n',
  );
  expect(await run(false)).toBe('');
});
