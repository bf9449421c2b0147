import { constants, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { BUFFER_LIMIT, LineWriter } from '../../../src/adapters/log/line-writer.ts';
import { Pipe } from '../../support/log-streams.ts';
import { canMount, SmallDisk } from '../../support/small-disk.ts';

/** The descriptor stays open, because a writer that is still blocked would write to the file of the next test. */
function writerTo(path: string, flags: number): LineWriter {
  return new LineWriter(openSync(path, flags), (count) => `dropped ${count}\n`);
}

function piped() {
  const pipe = new Pipe();
  return { pipe, writer: writerTo(pipe.path, constants.O_WRONLY | constants.O_NONBLOCK) };
}

function numbered(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${String(index).padEnd(99, '.')}\n`);
}

/** Everything was written except for one gap, which is reported in its place. */
function expectOneGap(text: string, given: readonly string[]): void {
  const written = text.split(/(?<=\n)/);
  const at = written.findIndex((line) => line.startsWith('dropped'));
  const dropped = Number(/^dropped (\d+)\n$/.exec(written[at] ?? '')?.[1]);
  expect(at * 100).toBeGreaterThan(BUFFER_LIMIT - 200);
  expect(written.toSpliced(at, 1)).toEqual([...given.slice(0, at), ...given.slice(at + dropped)]);
}

describe('a writer of lines', () => {
  test('writes the lines of one turn with one write, after that turn', async () => {
    const { pipe, writer } = piped();
    writer.write('one\n');
    writer.write('two\n');
    expect(pipe.read()).toBe('');
    await nextTurn();
    expect(pipe.read()).toBe('one\ntwo\n');
    writer.write('three ü 🐈\n');
    await nextTurn();
    expect(pipe.read()).toBe('one\ntwo\nthree ü 🐈\n');
  });

  test('buffers lines while a pipe is full, and writes them in order when the pipe is read', async () => {
    const { pipe, writer } = piped();
    const lines = numbered(5000);
    for (const [index, line] of lines.entries()) {
      writer.write(line);
      if (index % 500 === 0) await nextTurn();
    }
    await expect.poll(() => pipe.read(), { interval: 5 }).toBe(lines.join(''));
  });

  test('drops and counts lines that exceed its buffer, and reports them in their place', async () => {
    const { pipe, writer } = piped();
    const lines = numbered(25_000);
    for (const line of lines.slice(0, 20_000)) writer.write(line);
    await nextTurn();
    for (const line of lines.slice(20_000, 24_000)) writer.write(line);
    await expect.poll(() => pipe.read(), { interval: 5 }).toMatch(/dropped \d+\n$/);
    for (const line of lines.slice(24_000)) writer.write(line);
    await expect.poll(() => pipe.read(), { interval: 5 }).toContain('\n24999.');
    expectOneGap(pipe.read(), lines);
  });

  test('drops a line that is larger than the buffer, and no other', async () => {
    const { pipe, writer } = piped();
    for (const line of ['first\n', `${'x'.repeat(BUFFER_LIMIT)}\n`, undefined, 'last\n', undefined]) {
      if (line === undefined) await nextTurn();
      else writer.write(line);
    }
    expect(pipe.read()).toBe('first\ndropped 1\nlast\n');
  });

  test('at the end writes its buffer, without waiting for another turn', () => {
    const { pipe, writer } = piped();
    writer.write('last\n');
    writer.end(0);
    expect(pipe.read()).toBe('last\n');
  });

  test('at the end waits for a blocked reader, but not longer than the timeout', () => {
    const { writer } = piped();
    for (const line of numbered(1000)) writer.write(line);
    const startedAt = performance.now();
    writer.end(200);
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(200);
  });

  test('at the end does not wait for a reader that has gone', () => {
    const { pipe, writer } = piped();
    pipe.close();
    writer.write('last\n');
    const startedAt = performance.now();
    writer.end(60_000);
    expect(performance.now() - startedAt).toBeLessThan(30_000);
  });

  test.skipIf(!canMount)('finishes the line that a full disk cut, once there is room', async () => {
    const disk = new SmallDisk('64k');
    const log = join(disk.folder, 'log');
    const writer = writerTo(log, constants.O_WRONLY | constants.O_CREAT);
    const lines = numbered(12_000);
    for (const line of lines) writer.write(line);
    await nextTurn();
    expect(readFileSync(log).length % 100).not.toBe(0);
    disk.resize('4m');
    await expect.poll(() => readFileSync(log, 'utf8')).toMatch(/dropped \d+\n$/);
    expectOneGap(readFileSync(log, 'utf8'), lines);
  });
});
