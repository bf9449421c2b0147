/** The limits, defaults, codes, variables, commands and figures in the manuals are those of the code and of the benchmark. */

import { globSync } from 'node:fs';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { PARTS } from '../../scripts/new/parts.ts';
import { TABLES, withTable } from '../../scripts/tables.ts';
import type { CliOptions } from '../../src/adapters/cli/options.ts';
import { createProgram } from '../../src/adapters/cli/program.ts';
import { BODY_LIMIT } from '../../src/adapters/http/body.ts';
import { STATUS_OF } from '../../src/adapters/http/errors.ts';
import { logTo } from '../../src/adapters/log/log.ts';
import { logObserver } from '../../src/adapters/log/observer.ts';
import { IDEMPOTENCY_DAYS, IDEMPOTENCY_DAYS_MAX } from '../../src/application/create-pet.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from '../../src/application/list-pets.ts';
import { STORAGE_FAULT_REASONS } from '../../src/application/ports/storage-fault.ts';
import { describeSettings } from '../../src/composition/config.ts';
import { IDEMPOTENCY_KEY_MAX_LENGTH } from '../../src/domain/idempotency-key.ts';
import { OUTCOME } from '../support/outcome.ts';
import { blocksOf, codeSpans, MANUALS, proseOf, read, tableBelow } from './manuals.ts';

/** Returns the number that a pattern finds in a file, such as the value of a constant. */
function numberIn(file: string, pattern: RegExp): number {
  const [, digits] = pattern.exec(read(file)) ?? [];
  if (digits === undefined) throw new Error(`${file} has no ${pattern}`);
  return Number(digits.replaceAll(/[_,]/g, ''));
}

/** Returns the value of a constant in one of the files of a folder, such as `const TIMEOUT = 10_000;`. */
function constant(folder: string, name: string): number {
  const source = globSync(`src/adapters/${folder}/**/*.ts`).map(read).join('\n');
  const found = new RegExp(`const ${name}(?:: number)? = ([\\d_. *]+);`).exec(source)?.[1];
  if (found === undefined) throw new Error(`src/adapters/${folder} has no constant ${name}`);
  return found
    .replaceAll('_', '')
    .split('*')
    .reduce((product, factor) => product * Number(factor), 1);
}

const kib = (bytes: number) => `${bytes / 1024} KiB`;
const seconds = (milliseconds: number) => milliseconds / 1000;
const whole = (value: number) => value.toLocaleString('en-US');
const timeout = (name: string) =>
  seconds(numberIn('src/adapters/http/server.ts', new RegExp(`${name} = Math\\.\\w+\\(([\\d_]+)`)));
const unit = (pattern: RegExp) => numberIn('deploy/animal-store.service', pattern);
const backup = (pattern: RegExp) => numberIn('deploy/animal-store-backup.service', pattern);
const keepAlive = seconds(constant('http', 'KEEP_ALIVE_TIMEOUT'));
const stopLimit = unit(/SHUTDOWN_TIMEOUT_MS and (\d+) seconds/);
const shutdown = unit(/^Environment=SHUTDOWN_TIMEOUT_MS=(\d+)$/m);
const stopTimeout = unit(/^TimeoutStopSec=(\d+)$/m);

/** Phrases with figures of the code, by the manual that has them. */
const FACTS: readonly (readonly [manual: string, phrase: string])[] = [
  ['api', `\`limit\` is ${LIMIT_MIN} to ${LIMIT_MAX}, by default ${LIMIT_DEFAULT}.`],
  ['api', `of 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} visible ASCII characters`],
  ['api', `for ${IDEMPOTENCY_DAYS * 24} hours or as many days`],
  ['api', `the body of a request | ${kib(BODY_LIMIT)} |`],
  ['api', `the request line and the header fields | ${kib(constant('http', 'HEAD_LIMIT'))} |`],
  ['api', `the time to send the header fields | ${timeout('headersTimeout')} s |`],
  ['api', `the time to send the whole request | ${timeout('requestTimeout')} s |`],
  ['api', `between two requests on one connection | ${keepAlive} s |`],
  ['api', `a client reads nothing of a response | ${seconds(constant('http', 'READ_TIMEOUT'))} s |`],
  ['api', `without reading a response | ${constant('http', 'PIPELINE_LIMIT')};`],
  ['serve', `1 to ${IDEMPOTENCY_DAYS_MAX}; the same on all servers`],
  ['serve', `${whole(constant('http', 'REQUESTS_LIMIT'))} requests in flight`],
  ['serve', `plus ${stopLimit} seconds, even if the disk hangs`],
  ['deploy', `by default ${stopTimeout} seconds, together with`],
  ['deploy', `starts the server again after ${unit(/^RestartSec=(\d+)$/m)} seconds,`],
  ['deploy', `older than ${backup(/-mtime \+(\d+) -delete/) + 1} days`],
  ['deploy', `never the newest ${backup(/tail -n \+(\d+)/) - 1}.`],
  ['postgresql', `within ${keepAlive} seconds, earlier than the server`],
  [
    'containers',
    `an image of ${numberIn('test/deploy/container.deploy.ts', /size \/ 1e7\) \* 10\)\.toBe\((\d+)\)/)} MB`,
  ],
];

describe('limits and defaults', () => {
  test.each(FACTS)('docs/%s.md says: %s', (manual, phrase) => {
    expect(proseOf(read(`docs/${manual}.md`))).toContain(phrase);
  });

  test('a stop ends in the time of the units', () => {
    expect(seconds(shutdown) + stopLimit).toBeLessThan(stopTimeout);
  });

  test('SQLite has the fix that docs/data.md asks of other programs', () => {
    const [, minor, patch] = /SQLite before 3\.(\d+)\.(\d+) can/.exec(proseOf(read('docs/data.md'))) ?? [];
    const db = new Database(':memory:');
    const [, ownMinor, ownPatch] = String(db.prepare('SELECT sqlite_version()').pluck().get()).split('.');
    db.close();
    expect([minor, patch]).toEqual(['51', '3']);
    expect(Number(ownMinor) * 1000 + Number(ownPatch)).toBeGreaterThanOrEqual(51_003);
  });
});

describe('variables', () => {
  const settings = describeSettings();
  const names = [...settings.map(({ name }) => name), 'API_KEY'];
  /** Variables of other programs, of the tests, and of the examples. */
  const foreign =
    /^(OTEL|FAULTS)_|^(NODE_OPTIONS|NO_COLOR|NODE_USE_ENV_PROXY|HTTPS_PROXY|POSTGRES_PASSWORD|TEST_\w+|PROPERTY_\w+|ANIMAL_STORE_(KEY|URL))$/;
  const constants =
    /^(LIMIT_MAX|RESPONSE_LIMIT|ERROR_CODES|BROKEN_PROMISE|PET_STATUSES|STATUS_TRANSITIONS|DEFAULT_STATUS|TAKE_ORDER)$/;

  test('docs/serve.md has a row for each, with its default', () => {
    const rows = tableBelow('docs/serve.md', 'Settings').map((cells) =>
      cells.slice(0, 2).map((cell) => cell.replaceAll('`', '')),
    );
    const expected = settings.map(({ name, fallback = 'none' }) => [name, fallback]);
    expect(rows.toSorted()).toEqual(expected.toSorted());
  });

  test.each(['README.md', 'CONTRIBUTING.md', ...MANUALS])('%s names only variables that exist', (path) => {
    const named = codeSpans(read(path)).flatMap(
      (span) => /^([A-Z][A-Z0-9]*_[A-Z0-9_]+)(=|$)/.exec(span)?.[1] ?? [],
    );
    const exists = (name: string) => names.includes(name.replace(/_FILE$/, ''));
    expect(named.filter((name) => !exists(name) && !foreign.test(name) && !constants.test(name))).toEqual([]);
  });
});

describe('codes', () => {
  test.each(['README.md', ...MANUALS])('%s names the status of a code', (path) => {
    for (const [, status, code = ''] of read(path).matchAll(
      /\b(\d{3}) `([a-z]+_[a-z_]+|overloaded|unauthorized)`/g,
    ))
      expect(STATUS_OF, code).toHaveProperty(code, Number(status));
  });

  test('docs/watch.md has a row for each reason of /readyz', () => {
    const rows = tableBelow('docs/watch.md', '`/readyz` is 503: what do I do?');
    const reasons = rows.map(([reason = '']) => reason.replaceAll('`', ''));
    expect(reasons.toSorted()).toEqual(['stopping', 'storage', ...STORAGE_FAULT_REASONS].toSorted());
  });
});

test('docs/make-it-yours.md says what each part of a new project adds', () => {
  const named = tableBelow('docs/make-it-yours.md', 'What do I get?').map(([part]) => part);
  const parts = Object.keys(PARTS).map((part) => `\`${part}\``);
  expect(named.toSorted()).toEqual(parts.toSorted());
});

test.each(Object.keys(TABLES))('%s has the tables that npm run accept writes', async (path) => {
  expect(await withTable(path, read(path))).toBe(read(path));
});

test('docs/watch.md describes each field of the line of a request, and no other', () => {
  const [, list = ''] =
    /^## What does the log contain\?$.*?\n\n(- .*?)\n\n/ms.exec(read('docs/watch.md')) ?? [];
  const described = [...list.matchAll(/`([a-zA-Z]+)`/g)].map(([, name = '']) => name);
  const lines: string[] = [];
  const log = logTo({ write: (line) => lines.push(line) }, 'info');
  logObserver(log).onRequest?.({ ...OUTCOME, path: '/v1/pets', aborted: true, traceparent: 'value' });
  const fields = Object.keys(JSON.parse(lines.join('')));
  const values = ['request'];
  expect([...new Set(described)].filter((name) => !values.includes(name)).toSorted()).toEqual(
    fields.toSorted(),
  );
});

describe('commands', () => {
  const options = { version: '', console: {}, settings: [], databaseUrls: [] };
  const commands = new Map(
    createProgram(options as unknown as CliOptions).commands.flatMap((command) =>
      command.commands.length > 0
        ? command.commands.map((child) => [`${command.name()} ${child.name()}`, child] as const)
        : [[command.name(), command] as const],
    ),
  );

  test('docs/serve.md lists each', () => {
    const [, list = ''] =
      /^## Which commands are there\?\n\n```text\n(.*?)^```/ms.exec(read('docs/serve.md')) ?? [];
    const words = new Set(list.match(/[a-z]+/g));
    expect(
      [...commands.keys()].flatMap((name) => name.split(' ')).filter((word) => !words.has(word)),
    ).toEqual([]);
  });

  test.each(['README.md', 'CONTRIBUTING.md', ...MANUALS])(
    '%s names only commands and options that exist',
    (path) => {
      const unknown = [...codeSpans(read(path)), ...read(path).split('\n')].flatMap((text) =>
        [
          ...text.matchAll(
            /(?:^|[#$] |`|npx |exec (?:animal-store|server) |-- )animal-store ([a-z][^|&;>`]*)/g,
          ),
        ].flatMap(([whole, rest = '']) => {
          const words = rest.trim().split(/\s+/);
          const command = commands.get(words.slice(0, 2).join(' ')) ?? commands.get(words[0] ?? '');
          if (command === undefined) return [whole];
          const known = ['--database-url', '--help', ...command.options.map(({ long }) => long)];
          return words.filter((word) => word.startsWith('--') && !known.includes(word));
        }),
      );
      expect(unknown).toEqual([]);
    },
  );
});

describe('what is measured', () => {
  test('README.md has the figures of docs/reliability.md', () => {
    const [, kills, pets] =
      /killed servers (\d+) times .* confirmed ([\d,]+) pets/.exec(proseOf(read('docs/reliability.md'))) ??
      [];
    expect(read('README.md')).toContain(`${kills} × \`kill -9\` during ${pets} creates`);
  });

  const { found } = JSON.parse(read(globSync('bench/results/????-??-??.json').toSorted().at(-1) ?? '')) as {
    found: {
      compare: { work: string; label: string; perSecond: number; p99: number }[];
      memory: { atRest: number; most: number }[];
      start: { median: number };
    };
  };
  const peers = ['animal-store', 'fastify', 'node-http'];

  test('docs/performance.md has the figures of the last run of the benchmark', () => {
    const expected = [...new Set(found.compare.map(({ work }) => work))].map((work) => {
      const rows = peers.map((peer) => found.compare.find((row) => row.work === work && row.label === peer));
      return rows.flatMap((row) => [whole(Math.round(row?.perSecond ?? 0)), row?.p99.toFixed(1)]).slice(0, 5);
    });
    const shown = tableBelow('docs/performance.md', 'Requests per second').map((row) => row.slice(1));
    expect(shown).toEqual(expected);
  });

  test('docs/performance.md has the memory and the start of this run, and no other manual states memory', () => {
    const { memory, start } = found;
    const expected = [memory[0]?.atRest, memory[0]?.most, Math.max(...memory.map(({ most }) => most))];
    expect(tableBelow('docs/performance.md', 'Memory').map(([, figure]) => Number(figure))).toEqual(
      expected.map((figure) => Math.round(figure ?? 0)),
    );
    expect(proseOf(read('docs/performance.md'))).toContain(
      `one million pets takes ${Math.round(start.median)} ms`,
    );
    const others = ['README.md', ...MANUALS].filter((path) => path !== 'docs/performance.md');
    expect(others.filter((path) => /resident memory/i.test(read(path)))).toEqual([]);
  });

  test('the README shows the chart of this run', () => {
    const chart = read('docs/benchmark.svg');
    const shown = found.compare.filter(({ label }) => peers.includes(label));
    expect(shown).toHaveLength(15);
    for (const { perSecond } of shown) expect(chart).toContain(whole(Math.round(perSecond)));
  });
});

describe('what root installs can be read by the user of the server, under the umask 077 too', () => {
  const blocks = blocksOf('docs/deploy.md').filter(({ language }) => language === 'console');

  test('packages are installed after `umask 022`', () => {
    const installing = blocks.filter(({ code }) => code.includes('npm install'));
    expect(installing.length).toBeGreaterThan(1);
    for (const { code } of installing) expect(code).toMatch(/^# umask 022$/m);
  });

  test('files are installed with their modes', () => {
    const code = blocks.map(({ code }) => code).join('');
    expect(code.match(/^# (cp|mkdir) .*/gm) ?? []).toEqual([]);
    expect(code.match(/^# install .*/gm)?.filter((line) => !/ -m 0\d{3} /.test(line))).toEqual([]);
  });
});

test('no manual names the file of a release, whose version changes', () => {
  const files = [...MANUALS, 'README.md', ...globSync('deploy/*')];
  expect(files.flatMap((file) => read(file).match(/animal-store[-:]\d+\.\d+\.\d+/g) ?? [])).toEqual([]);
});
