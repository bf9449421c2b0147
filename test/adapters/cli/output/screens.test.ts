import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Console, Screen } from '../../../../src/adapters/cli/output/console.ts';
import { duration, durationAndRate } from '../../../../src/adapters/cli/output/format.ts';
import { Progress } from '../../../../src/adapters/cli/output/progress.ts';
import { table } from '../../../../src/adapters/cli/output/table.ts';
import { commandLine, NO_TERMINAL, TERMINAL } from '../cli.ts';

/** A progress with a clock that the test controls. */
function progressOn(errScreen: Screen) {
  const shown: string[] = [];
  const err = (text: string) => shown.push(text);
  const console = { errScreen, err, errRaw: err } as unknown as Console;
  const progress = new Progress(console);
  return {
    shown,
    progress,
    wait: (milliseconds: number) => vi.advanceTimersByTime(milliseconds),
  };
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe('progress on a terminal', () => {
  test('is a bar with rate, fraction and time left, which is redrawn and removed at the end', () => {
    const { shown, progress, wait } = progressOn({ columns: 80, hasColours: false });
    progress.show({ title: 'Reading', count: 1, share: 0.001 });
    expect(shown).toEqual([]);
    wait(2000);
    progress.show({ title: 'Reading', count: 500_000, share: 0.25 });
    expect(shown).toEqual([
      '\r\u001b[KReading  [######..................]  25 %  500,000 pets  250,000/s  6.0 s left',
    ]);
    progress.show({ title: 'Reading', count: 500_001, share: 0.25 });
    wait(99);
    progress.show({ title: 'Reading', count: 500_002, share: 0.25 });
    expect(shown).toHaveLength(1);
    wait(1);
    progress.show({ title: 'Reading', count: 500_003, share: 0.25 });
    expect(shown).toHaveLength(2);
    progress.end();
    progress.end();
    expect(shown.slice(2)).toEqual(['\r\u001b[K']);
    expect(progress.elapsed).toBe(2100);
  });

  test.each([20, 40, 60, 80, 200])('fits into %i columns', (columns) => {
    const { shown, progress, wait } = progressOn({ columns, hasColours: true });
    progress.show({ title: 'Reading', count: 0 });
    wait(5000);
    progress.show({ title: 'Reading', count: 123_456_789, share: 0.5 });
    const [line = ''] = shown;
    expect(stripVTControlCharacters(line).trim().length).toBeLessThan(columns);
    expect(line).toContain('Reading');
  });

  test('has colours only where they are enabled', () => {
    for (const hasColours of [true, false]) {
      const { shown, progress, wait } = progressOn({ columns: 80, hasColours });
      wait(1000);
      progress.show({ title: 'Copying', share: 0.5 });
      expect(shown.join('').includes('\u001b[32m')).toBe(hasColours);
    }
  });

  test('shows what is known when the end is unknown', () => {
    const { shown, progress, wait } = progressOn({ columns: 80, hasColours: false });
    progress.show({ title: 'Exporting', count: 0 });
    wait(1000);
    progress.show({ title: 'Exporting', count: 4000 });
    expect(shown).toEqual(['\r\u001b[KExporting  4,000 pets  4,000/s']);
  });

  test('starts again with every step', () => {
    const { shown, progress, wait } = progressOn({ columns: 80, hasColours: false });
    wait(10_000);
    progress.show({ title: 'Storing', count: 10, share: 0.1 });
    wait(1000);
    progress.show({ title: 'Storing', count: 50, share: 0.5 });
    expect(shown.at(-1)).toContain('50/s  1.0 s left');
  });
});

test('progress elsewhere is a plain line every 5 seconds', () => {
  const { shown, progress, wait } = progressOn(NO_TERMINAL);
  for (let step = 1; step <= 110; step++) {
    wait(100);
    progress.show({ title: 'Reading', count: step * 1000, share: step / 200 });
  }
  progress.end();
  expect(shown).toEqual([
    'Reading: 25 %, 50,000 pets, 10,204/s, 15 s left\n',
    'Reading: 50 %, 100,000 pets, 10,101/s, 9.9 s left\n',
  ]);
});

test.each([
  [7.6, '8 ms'],
  [999.4, '999 ms'],
  [999.6, '1.0 s'],
  [3940, '3.9 s'],
  [9949, '9.9 s'],
  [9951, '10 s'],
  [59_400, '59 s'],
  [59_600, '1 min 0 s'],
  [125_000, '2 min 5 s'],
  [4_830_000, '1 h 20 min'],
])('%d ms are shown as %s', (milliseconds, expected) => {
  expect(duration(milliseconds)).toBe(expected);
});

test('the rate of a command is shown if the command has taken a second', () => {
  expect(durationAndRate(1, 7.6)).toBe('8 ms');
  expect(durationAndRate(2_000_000, 4000)).toBe('4.0 s (500,000/s)');
});

describe('a table', () => {
  const head = ['ID', 'NAME', 'END'];
  const rows = [
    { cells: ['1', 'a long name that goes on', '2027-01-31'] },
    { cells: ['12', 'short', '-'], isInactive: true },
  ];

  test('is aligned, and not truncated without a terminal', () => {
    expect(table(head, rows, NO_TERMINAL)).toBe(
      'ID  NAME                      END\n' +
        '1   a long name that goes on  2027-01-31\n' +
        '12  short                     -\n',
    );
  });

  test('truncates one column on a narrow screen', () => {
    const lines = table(head, rows, { columns: 30, hasColours: false }).split('\n');
    expect(lines[1]).toBe('1   a long name t…  2027-01-31');
    expect(lines[2]).toBe('12  short           -');
  });

  test('counts the columns that a character occupies', () => {
    const wide = [{ cells: ['1', '日本語の名前', 'x'] }, { cells: ['2', '👩‍👩‍👧‍👦 e\u0301', 'x'] }];
    expect(table(head, wide, NO_TERMINAL)).toBe(
      'ID  NAME          END\n1   日本語の名前  x\n2   👩‍👩‍👧‍👦 e\u0301          x\n',
    );
    expect(table(head, wide, { columns: 17, hasColours: false })).toContain('1   日本語…   x');
  });

  test('is bold and dim where there are colours', () => {
    const lines = table(head, rows, { columns: 80, hasColours: true }).split('\n');
    expect(lines[0]).toBe('\u001b[1mID  NAME                      END\u001b[22m');
    expect(lines[1]).not.toContain('\u001b');
    expect(lines[2]).toBe('\u001b[2m12  short                     -\u001b[22m');
  });
});

describe('the help', () => {
  const COMMANDS = ' |serve|keys|keys create|keys list|keys revoke|keys rotate|import|export|backup'.split(
    '|',
  );

  test.each(COMMANDS)('of %j fits 80 columns, names --database-url and has examples', async (command) => {
    const { status, out, err } = await commandLine().run([...command.split(' ').filter(Boolean), '--help'], {
      screen: TERMINAL,
    });
    expect([status, err]).toEqual([0, '']);
    expect(out).toContain('--database-url');
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80);
    if (command === 'keys') return;
    expect(out).toMatch(new RegExp(`Examples:\n(?:.*\n)*.*animal-store ${command.trim()}`));
  });
});

test('a call without a command shows the help, with the first steps as examples', async () => {
  const { status, out, err } = await commandLine().run([]);
  expect([status, out]).toEqual([2, '']);
  expect(err).toContain('animal-store serve');
  expect(err).toContain('animal-store keys create');
});
