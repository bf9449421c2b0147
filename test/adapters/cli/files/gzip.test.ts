/** Compressed input and output. */

import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { type CommandLine, commandLine, exportOf, failed, line, storeOf, TERMINAL, withRex } from '../cli.ts';

const MANY = Array.from({ length: 3000 }, (_, index) => line(`é🐈 ${index}`)).join('');

function byteOutput() {
  const chunks: Buffer[] = [];
  const stdout = new Writable({
    write(chunk, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stdout, bytes: () => Buffer.concat(chunks) };
}

function inFolderOf(cli: CommandLine, name: string): string {
  return join(dirname(cli.path), name);
}

function partialsOf(cli: CommandLine): string[] {
  return readdirSync(dirname(cli.path)).filter((name) => /partial|earlier/.test(name));
}

describe('import of gzip data', () => {
  test('is recognized by its content, whatever the name, from a file and from standard input', async () => {
    const plain = await storeOf(MANY);
    const expected = await exportOf(plain);
    const fromFile = commandLine();
    const file = inFolderOf(fromFile, 'pets.ndjson');
    writeFileSync(file, gzipSync(MANY));
    expect((await fromFile.run(['import', '--create-store', file])).status).toBe(0);
    expect(await exportOf(fromFile)).toBe(expected);
    const fromInput = commandLine();
    const bytes = [...gzipSync(MANY)].map((byte) => Buffer.from([byte]));
    expect(
      (await fromInput.run(['import', '--create-store', '-'], { stdin: Readable.from(bytes) })).status,
    ).toBe(0);
    expect(await exportOf(fromInput)).toBe(expected);
  });

  test('reads several compressed files that were concatenated', async () => {
    const cli = commandLine();
    const stdin = Readable.from([gzipSync(line('Rex')), gzipSync(line('Mia'))]);
    await cli.run(['import', '--create-store', '-'], { stdin });
    expect((await exportOf(cli)).match(/(?<="name":")\w+/g)).toEqual(['Rex', 'Mia']);
  });

  const DAMAGED = /^animal-store: cannot read .*pets\.gz: the gzip data is damaged or truncated: .*\n$/;
  const whole = gzipSync(MANY);
  const flipped = Buffer.from(whole);
  flipped[whole.length / 2] = (flipped[whole.length / 2] as number) ^ 0xff;
  const wrongSum = Buffer.from(whole);
  wrongSum[whole.length - 6] = (wrongSum[whole.length - 6] as number) ^ 0xff;

  test.each([
    ['truncated after the header', whole.subarray(0, 10)],
    ['truncated to its magic number', whole.subarray(0, 2)],
    ['truncated in the middle', whole.subarray(0, whole.length / 2)],
    ['truncated before the checksum', whole.subarray(0, -4)],
    ['damaged in the middle', flipped],
    ['with a wrong checksum', wrongSum],
    ['followed by other data', Buffer.concat([whole, Buffer.from('oops')])],
  ])('%s is one clear line, and nothing is imported', async (_, bytes) => {
    for (const flags of [[], ['--skip-invalid'], ['--dry-run']] as string[][]) {
      const cli = await withRex();
      const before = await exportOf(cli);
      const file = inFolderOf(cli, 'pets.gz');
      writeFileSync(file, bytes);
      const { status, out, err } = await cli.run(['import', ...flags, file]);
      expect([status, out]).toEqual([1, '']);
      // A damaged byte can make a line invalid before the checksum at the end is read.
      const isLine = bytes === flipped && !flags.includes('--skip-invalid');
      expect(err).toMatch(isLine ? /^animal-store: (line \d+|cannot read).*\n$/ : DAMAGED);
      expect(await exportOf(cli)).toBe(before);
      expect(readdirSync(dirname(cli.path))).toEqual(['pets.db', 'pets.gz']);
    }
  });
});

describe('export of gzip data', () => {
  test('--gzip compresses standard output', async () => {
    const cli = await storeOf(MANY);
    const { stdout, bytes } = byteOutput();
    const { status, err } = await cli.run(['export', '--gzip'], { stdout });
    expect(status).toBe(0);
    expect(err).toMatch(/^Exported 3,000 pets in /);
    expect(gunzipSync(bytes()).toString()).toBe(await exportOf(cli));
  });

  test('--output compresses a file whose name ends in .gz, and with --gzip every file', async () => {
    const cli = await withRex();
    const text = await exportOf(cli);
    for (const [name, flags, isCompressed] of [
      ['pets.ndjson', [], false],
      ['pets.ndjson.gz', [], true],
      ['pets.bin', ['--gzip'], true],
    ] as const) {
      const file = inFolderOf(cli, name);
      const { status, out, err } = await cli.run(['export', '--output', file, ...flags]);
      expect([status, out]).toEqual([0, '']);
      expect(err).toContain(`Exported 1 pet to ${file} in `);
      const bytes = readFileSync(file);
      expect((isCompressed ? gunzipSync(bytes) : bytes).toString()).toBe(text);
    }
    expect(partialsOf(cli)).toEqual([]);
  });

  test('of no pets is an empty file, and can be imported', async () => {
    const cli = await storeOf();
    for (const [name, bytes] of [
      ['none', 0],
      ['none.gz', 20],
    ] as const) {
      const file = inFolderOf(cli, name);
      expect((await cli.run(['export', '--output', file])).status).toBe(0);
      expect(readFileSync(file)).toHaveLength(bytes);
      expect((await cli.run(['import', '--create-store', file])).out).toContain('Imported 0 pets');
    }
  });

  test('is refused on a terminal', async () => {
    const cli = await withRex();
    const { status, out, err } = await cli.run(['export', '--gzip'], { screen: TERMINAL });
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain('standard output is a terminal');
  });
});

describe('export --output', () => {
  test('replaces a file only with --force', async () => {
    const cli = await withRex();
    const file = inFolderOf(cli, 'pets.ndjson');
    writeFileSync(file, 'precious');
    expect(await cli.run(['export', '--output', file])).toEqual(
      failed(2, `${file} exists already: --force replaces it`),
    );
    expect(readFileSync(file, 'utf8')).toBe('precious');
    expect((await cli.run(['export', '--force', '--output', file])).status).toBe(0);
    expect(readFileSync(file, 'utf8')).toBe(await exportOf(cli));
  });

  test('is refused for files of the store, and in a folder that does not exist', async () => {
    const cli = await withRex();
    for (const file of [cli.path, `${cli.path}-wal`]) {
      const { status, err } = await cli.run(['export', '--force', '--output', file]);
      expect([status, err]).toEqual([2, `animal-store: --output: ${file} belongs to the store\n`]);
    }
    const { status, err } = await cli.run(['export', '--output', inFolderOf(cli, 'no/file')]);
    expect([status, err]).toEqual([
      1,
      `animal-store: --output: the folder of ${inFolderOf(cli, 'no/file')} does not exist\n`,
    ]);
  });

  test('leaves no file after a signal, and restores none that it did not replace', async () => {
    const cli = await storeOf(MANY);
    const [file, earlier] = [inFolderOf(cli, 'a.gz'), inFolderOf(cli, 'b.ndjson')];
    writeFileSync(earlier, 'earlier');
    for (const args of [
      ['export', '--output', file],
      ['export', '--force', '--output', earlier],
    ]) {
      expect(await cli.run(args, { signal: AbortSignal.abort() })).toEqual(
        failed(1, 'interrupted; nothing was exported'),
      );
    }
    expect([existsSync(file), readFileSync(earlier, 'utf8')]).toEqual([false, 'earlier']);
    expect(partialsOf(cli)).toEqual([]);
  });
});
