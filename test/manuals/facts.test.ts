/**
 * The limits, defaults, codes, variables and commands in the manuals are those of the code. Every quantity in their prose, such as
 * `64 KiB` or `10 s`, must be a part of one of the phrases below, whose figures come from the code. So two manuals cannot
 * say different things, and a change of the code names the sentences that must change.
 */

import { globSync } from 'node:fs';
import Database from 'better-sqlite3';
import { Pool } from 'pg';
import { describe, expect, test } from 'vitest';
import { createProgram } from '../../src/adapters/cli/program.ts';
import { STATUS_OF } from '../../src/adapters/http/api/errors.ts';
import { BODY_LIMIT } from '../../src/adapters/http/api/json-body.ts';
import { Metrics } from '../../src/adapters/metrics/index.ts';
import { IDEMPOTENCY_DAYS, IDEMPOTENCY_DAYS_MAX } from '../../src/application/create-pet-once.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, LIMIT_MIN } from '../../src/application/list-pets.ts';
import { STORAGE_FAULT_REASONS } from '../../src/application/ports/storage-fault.ts';
import { SECRETS } from '../../src/composition/config/settings.ts';
import { describeSettings, loadConfig } from '../../src/composition/config.ts';
import { IDEMPOTENCY_KEY_MAX_LENGTH } from '../../src/domain/idempotency-key.ts';
import { NAME_MAX_LENGTH, NAME_MIN_LENGTH } from '../../src/domain/pet.ts';
import { codeSpans, MANUALS, proseOf, read, tableBelow } from './manuals.ts';

const API = 'src/adapters/http/api';
const NODE = 'src/adapters/http/node';
const SQLITE = 'src/adapters/sqlite';
const POSTGRES = 'src/adapters/postgres';

/** Returns the value of a constant in a module, such as `const TIMEOUT = 10_000;`, which need not be exported. */
function constant(module: string, name: string): number {
  const [, expression] =
    new RegExp(`^(?:export )?const ${name}(?:: number)? = ([\\d_. *]+);`, 'm').exec(read(module)) ?? [];
  if (expression === undefined) throw new Error(`${module} has no constant ${name}`);
  return expression
    .replaceAll('_', '')
    .split('*')
    .reduce((product, factor) => product * Number(factor), 1);
}

function numberIn(file: string, pattern: RegExp): number {
  const [, digits] = pattern.exec(read(file)) ?? [];
  if (digits === undefined) throw new Error(`${file} has no ${pattern}`);
  return Number(digits.replaceAll('_', ''));
}

const delay = (name: string) => seconds(constant(`${API}/load.ts`, name));
const whole = (value: number) => value.toLocaleString('en-US');
const kib = (bytes: number) => `${bytes / 1024} KiB`;
const mib = (bytes: number) => `${bytes / 1024 / 1024} MiB`;
const seconds = (milliseconds: number) => milliseconds / 1000;
const hours = IDEMPOTENCY_DAYS * 24;

const keysAreCachedFor = constant(`${POSTGRES}/api-key-repository.ts`, 'CACHE_TIME');
const queueTime = seconds(constant(`${SQLITE}/write/writer.ts`, 'QUEUE_TIMEOUT'));
const diskTime = seconds(constant(`${SQLITE}/write/writer-handle.ts`, 'REPLY_TIMEOUT'));
const databaseTime = seconds(constant(`${POSTGRES}/url/index.ts`, 'QUERY_TIMEOUT'));
const unread = mib(constant(`${NODE}/server.ts`, 'UNSENT_LIMIT'));
const keepAlive = seconds(constant(`${NODE}/server.ts`, 'KEEP_ALIVE_TIMEOUT'));
const leaving = constant(`${NODE}/server.ts`, 'IDLE_TIME');
const metricsRate = numberIn(
  `${API}/load.ts`,
  /^const METRICS_LIMIT: RateLimit = \{ requests: (\d+), seconds: 1 \}/m,
);
const readingTimeout = timeoutOf('readingTimeout');
const stopLimit = numberIn('deploy/animal-store.service', /SHUTDOWN_TIMEOUT_MS and (\d+) seconds/);
const stopTimeout = numberIn('deploy/animal-store.service', /^TimeoutStopSec=(\d+)$/m);
const backupDays = numberIn('deploy/animal-store-backup.service', /-mtime \+(\d+) -o/) + 1;
const grace = numberIn('deploy/kubernetes.yaml', /terminationGracePeriodSeconds: (\d+)/);
const preStop = numberIn('deploy/kubernetes.yaml', /sleep:\n *seconds: (\d+)/);
const reads = constant(`${POSTGRES}/url/index.ts`, 'MAX_READS');
const others = constant(`${POSTGRES}/storage.ts`, 'OTHER_CONNECTIONS');
const lockShare = constant(`${POSTGRES}/connection-pool.ts`, 'LOCK_FRACTION');

/** Phrases of the manuals, with figures of the code. Each of them is in a manual. */
const FACTS: readonly string[] = [
  `${NAME_MIN_LENGTH} to ${NAME_MAX_LENGTH} Unicode code points`,
  `\`limit\` is ${LIMIT_MIN} to ${LIMIT_MAX}, by default ${LIMIT_DEFAULT};`,
  `an \`Idempotency-Key\` of 1 to ${IDEMPOTENCY_KEY_MAX_LENGTH} visible ASCII characters`,
  `For ${hours} hours, - the same key`,
  `up to ${IDEMPOTENCY_DAYS_MAX} days`,
  `the body of a request | ${kib(BODY_LIMIT)}, and ${constant('src/domain/json.ts', 'MAX_DEPTH')} levels of nesting`,
  `has at most ${kib(constant('src/adapters/cli/files/lines.ts', 'LINE_LIMIT'))}. Input`,
  `the request line and the header fields | ${kib(constant(`${NODE}/server.ts`, 'HEAD_LIMIT'))}`,
  `the time to send the header fields | ${timeoutOf('headersTimeout')} s`,
  `the time to send the whole request | ${timeoutOf('requestTimeout')} s`,
  `the cache has at most ${mib(constant('src/adapters/storage-kit/page-cache.ts', 'SIZE_LIMIT'))}`,
  `without a response within ${databaseTime} s is refused`,
  `did not respond in ${databaseTime} s`,
  `plus ${stopLimit} seconds, even if the disk hangs`,
  `overlap, ${overlapDays()} days by default`,
  `refuses a revoked key within ${Math.ceil(seconds(keysAreCachedFor))} s`,
  `refuses the key within ${Math.ceil(seconds(keysAreCachedFor))} s`,
  `One that waits for ${queueTime} s gets 503`,
  `has not begun after ${queueTime} seconds get 503`,
  `get 503 after ${diskTime} seconds, and whether they are stored is unknown`,
  `has not finished a write for ${diskTime} seconds`,
  `held the lock of the file for ${queueTime} seconds`,
  `writes in the queue of SQLite | ${whole(constant('src/adapters/storage-kit/call-queue.ts', 'LENGTH_LIMIT'))}, for ${queueTime} seconds`,
  `wait for PostgreSQL | ${whole(constant('src/adapters/storage-kit/call-queue.ts', 'LENGTH_LIMIT'))},`,
  `less than ${keepAlive} seconds, after which the server closes`,
  `before the server does, after ${keepAlive} s`,
  `have at most ${constant('src/adapters/log/observer.ts', 'ANONYMOUS_LIMIT')} lines per second`,
  'It buffers 1 MiB',
  `for \`/metrics\` | ${metricsRate} per second`,
  `less than ${mib(constant(`${SQLITE}/maintenance/examination.ts`, 'NO_SPACE'))} of free space`,
  `less than ${mib(constant(`${SQLITE}/maintenance/examination.ts`, 'LITTLE_SPACE'))}, few descriptors`,
  `wait | ${constant(`${API}/load.ts`, 'BUSY_TIME')} ms, or ${constant(`${API}/load.ts`, 'BUSY_TIME_OF_STRANGERS')} ms for a key`,
  `is sent ${delay('DELAY_MIN') * 0.5} to ${delay('DELAY_MAX') * 1.5} seconds later`,
  `create requests in progress | ${whole(constant(`${API}/load.ts`, 'CREATES_LIMIT'))} |`,
  `without waiting for a response | ${constant(`${NODE}/connections.ts`, 'PIPELINE_LIMIT')} |`,
  `arrive at the same time | ${whole(constant(`${API}/json-body.ts`, 'BODIES_LIMIT'))} |`,
  `all together | ${unread}`,
  `an unread response | ${readingTimeout} seconds`,
  `bytes after the last response of a connection | ${seconds(constant(`${NODE}/connections.ts`, 'LINGER_TIMEOUT'))} seconds`,
  `among at most ${constant(`${API}/client-address.ts`, 'MAX_PROXIES')}.`,
  `systemd waits ${stopTimeout} seconds`,
  `it does, after ${numberIn('deploy/animal-store.service', /^RestartSec=(\d+)$/m)} seconds.`,
  `older than ${backupDays} days`,
  `waits ${preStop} seconds for the Service, and then the server has ${grace - preStop} seconds`,
  `It closes them after ${seconds(Number(new Pool().options.idleTimeoutMillis))} s without use`,
  `opens up to ${reads} for reads`,
  `they get 503 after ${databaseTime * lockShare} s`,
  `an image of ${numberIn('test/deploy/container.deploy.ts', /size \/ 1e7\) \* 10\)\.toBe\((\d+)\)/)} MB`,
];

/** Phrases with quantities of other programs, with examples, and with what was measured. */
const OTHERS: readonly string[] = [
  'makes it 5 s. A read',
  'leaves a server out for 10 seconds',
  'allows 100 requests at once and then 100 per second',
  'allows 600 at once and then 10 per second',
  'beyond 10,000 in 30 seconds',
  'takes about 115 MB at rest, and under attack up to 600 MB. Plan a machine with 1 GB',
  '1 GB of memory for the machine',
  'the default of 10 seconds is too short',
  'One million pets took 12 seconds',
  'every 1 to 2 s, with a timeout of 2 s, because a slow disk delays it by up to 1 s',
  'for 30 days instead of 24 hours',
  'takes 119 bytes in SQLite and 185 bytes in PostgreSQL',
  'raise the 24 hours to',
  'takes about 50 MB, and under attack up to 300 MB',
];

/** What is left out: measurements. `docs/performance.md` and `docs/reliability.md` consist of them. */
const PROSE: ReadonlyMap<string, string> = new Map(
  ['README.md', 'SECURITY.md', ...MANUALS]
    .filter((path) => !/(performance|reliability|runtimes|security)\.md$/.test(path))
    .map((path) => [path, proseOf(read(path).replace(/^## (Estimates|What was tried)$.*/ms, ''))] as const),
);

const UNIT =
  'KiB|MiB|GiB|[kKMG]B|ms|µs|s|seconds?|hours?|days?|minutes?|per second|bytes|code points|visible|characters|levels|of them|requests|lines';
const QUANTITY = new RegExp(`(?<![\\w.,-])\\d[\\d,]*(?:\\.\\d+)? (?:${UNIT})\\b`, 'g');

/** Returns the quantities in a text that are not a part of a phrase, each with the words around it. */
function unknownQuantities(text: string, phrases: readonly string[]): string[] {
  const known: [number, number][] = [...text.matchAll(/`[^`]*`/g)].map((span) => [
    span.index,
    span.index + span[0].length,
  ]);
  for (const phrase of phrases) {
    for (let at = text.indexOf(phrase); at !== -1; at = text.indexOf(phrase, at + 1))
      known.push([at, at + phrase.length]);
  }
  return [...text.matchAll(QUANTITY)]
    .filter(({ index }) => !known.some(([start, end]) => index >= start && index < end))
    .map(({ 0: quantity, index }) => text.slice(Math.max(0, index - 50), index + quantity.length + 30));
}

function timeoutOf(option: string): number {
  const [, digits = ''] =
    new RegExp(`Default: ([\\d,]+)\\.\\s*\\*/\\s*readonly ${option}`).exec(read(`${API}/options.ts`)) ?? [];
  return seconds(Number(digits.replaceAll(',', '')));
}

function overlapDays(): number {
  return numberIn('src/adapters/cli/commands/index.ts', /'(\d+)d',\n/);
}

describe('limits and defaults', () => {
  test.each([...PROSE])('%s states only quantities of the code', (_path, text) => {
    expect(unknownQuantities(text, [...FACTS, ...OTHERS])).toEqual([]);
  });

  test.each([...FACTS, ...OTHERS])('a manual says: %s', (phrase) => {
    expect([...PROSE.values()].some((text) => text.includes(phrase))).toBe(true);
  });

  test('a quantity that is wrong, or that nobody knows, is found', () => {
    expect(unknownQuantities('A body has 64 KiB.', ['A body has 64 KiB'])).toEqual([]);
    expect(unknownQuantities('A body has 65 KiB.', ['A body has 64 KiB'])).toEqual(['A body has 65 KiB.']);
    expect(unknownQuantities('refused within 5 s, by `a 5 s b`', [])).toEqual([
      'refused within 5 s, by `a 5 s b`',
    ]);
  });

  test('a key that is revoked ends in time on every server, and a stop in the time of the units', () => {
    expect(keysAreCachedFor).toBeLessThan(1000);
    expect(leaving).toBe(1000);
    expect(seconds(loadConfig({}).shutdownTimeout) + stopLimit).toBeLessThan(stopTimeout);
  });

  test('SQLite has the fix that docs/data.md asks of other programs', () => {
    const [, minor = 0, patch = 0] = /SQLite before 3\.(\d+)\.(\d+) can/.exec(read('docs/data.md')) ?? [];
    const db = new Database(':memory:');
    const [, ownMinor, ownPatch] = String(db.prepare('SELECT sqlite_version()').pluck().get()).split('.');
    db.close();
    expect([Number(minor), Number(patch)]).toEqual([51, 3]);
    expect(Number(ownMinor) * 1000 + Number(ownPatch)).toBeGreaterThanOrEqual(51_003);
  });

  test('docs/postgresql.md has the connections of several servers', () => {
    const most = reads + others + 1;
    for (const [servers, atRest, waitAtMost, with4] of tableBelow(
      'docs/postgresql.md',
      'Connections to PostgreSQL',
    )) {
      const row = [atRest, waitAtMost, with4].map(Number);
      expect(row).toEqual([2, most, most - reads + 4].map((count) => count * Number(servers)));
    }
  });
});

describe('variables', () => {
  const settings = describeSettings();
  const names = [...settings.map(({ name }) => name), 'API_KEY'];
  const secrets = SECRETS.map((name) => `${name}_FILE`);
  /** Variables of other programs, of the tests, and of the examples. */
  const foreign =
    /^(OTEL|FAULTS)_|^(NODE_OPTIONS|NO_COLOR|SQLITE_TMPDIR|TMPDIR|POSTGRES_PASSWORD|TEST_(DATABASE_URL|EXTENT|RETRIES)|PROPERTY_(RUNS|SEED)|ANIMAL_STORE_(KEY|URL))$/;

  test('docs/operations.md has a row for each, with its default', () => {
    const rows = tableBelow('docs/operations.md', 'Variables').map(([name = '', value = '']) => [
      name.replaceAll('`', ''),
      value.replaceAll('`', ''),
    ]);
    const expected = settings.map(({ name, fallback = 'none' }) => [name, fallback]);
    expect(rows.toSorted()).toEqual(expected.toSorted());
  });

  test.each(['README.md', 'CONTRIBUTING.md', ...MANUALS])('%s names only variables that exist', (path) => {
    const named = codeSpans(read(path)).flatMap(
      (span) => /^([A-Z][A-Z0-9]*_[A-Z0-9_]+)(=|$)/.exec(span)?.[1] ?? [],
    );
    const constants = /^(REQUEST_FIELDS|ERROR_CODES|BROKEN_PROMISE)$/;
    expect(
      named.filter(
        (name) => ![...names, ...secrets].includes(name) && !foreign.test(name) && !constants.test(name),
      ),
    ).toEqual([]);
  });
});

describe('codes', () => {
  test.each(['README.md', ...MANUALS])('%s names the status of a code', (path) => {
    for (const [, status, code = ''] of read(path).matchAll(
      /\b(\d{3}) `([a-z]+_[a-z_]+|overloaded|unauthorized)`/g,
    )) {
      expect(STATUS_OF, code).toHaveProperty(code, Number(status));
    }
  });

  test('docs/api.md has a row for each', () => {
    const rows = tableBelow('docs/api.md', 'Errors').map(([code = '', status]) => [
      code.replaceAll('`', ''),
      Number(status),
    ]);
    expect(Object.fromEntries(rows)).toEqual(STATUS_OF);
  });

  test('docs/operations.md has a row for each reason of /readyz', () => {
    const rows = tableBelow('docs/operations.md', 'Reasons of `/readyz`').map(([reason = '']) =>
      reason.replaceAll('`', ''),
    );
    expect(rows.toSorted()).toEqual(['stopping', 'storage', ...STORAGE_FAULT_REASONS].toSorted());
  });

  test('docs/repair.md has a heading for each reason of a storage', () => {
    const headings = [...read('docs/repair.md').matchAll(/^## (`.*)$/gm)].flatMap(([, text = '']) =>
      codeSpans(text),
    );
    expect(headings.toSorted()).toEqual([...STORAGE_FAULT_REASONS].toSorted());
  });
});

test('docs/operations.md has a row for each metric', async () => {
  const metrics = new Metrics({ version: '', storage: '' });
  const statistics = () => ({ connections: 0, requestsInFlight: 0, refused: {} });
  metrics.readFrom({ server: { statistics }, storage: { idempotencyRecords: { count: async () => 0 } } });
  const names = [...(await metrics.text()).matchAll(/^# HELP (animal_store_\w+)/gm)].map(([, name]) => name);
  const rows = tableBelow('docs/operations.md', 'List of metrics').map(([name = '']) =>
    name.replaceAll('`', ''),
  );
  expect(rows.filter((name) => name.startsWith('animal_store_')).toSorted()).toEqual(names.toSorted());
});

describe('commands', () => {
  const program = createProgram({ version: '', settings: [], console: {} } as never);
  const commands = new Map(
    program.commands.flatMap((command) =>
      command.commands.length > 0
        ? command.commands.map((child) => [`${command.name()} ${child.name()}`, child] as const)
        : [[command.name(), command] as const],
    ),
  );

  test('docs/operations.md has a row for each, with its options', () => {
    const expected = [...commands].map(([name, { options }]) => [
      name,
      options.map(({ long }) => long).toSorted(),
    ]);
    const rows = tableBelow('docs/operations.md', 'Commands').map(([command = '', options = '']) => [
      command.replace(/ [A-Z]+`$/, '').replaceAll('`', ''),
      codeSpans(options).toSorted(),
    ]);
    expect(rows.toSorted()).toEqual(expected.toSorted());
  });

  test.each(['README.md', 'CONTRIBUTING.md', ...MANUALS])(
    '%s names only commands and options that exist',
    (path) => {
      const unknown = codeSpans(read(path)).flatMap((span) =>
        [...span.matchAll(/animal-store ([a-z][^|&;]*)/g)].flatMap(([text, rest = '']) => {
          const words = rest.trim().split(/\s+/);
          const command = commands.get(words.slice(0, 2).join(' ')) ?? commands.get(words[0] ?? '');
          if (command === undefined) return [text];
          const known = ['--database-url', ...command.options.map(({ long }) => long)];
          return words.filter((word) => word.startsWith('--') && !known.includes(word));
        }),
      );
      expect(unknown).toEqual([]);
    },
  );
});

describe('what is measured', () => {
  const newest = globSync('bench/results/????-??-??.json').toSorted().at(-1) ?? '';
  const { found } = JSON.parse(read(newest)) as {
    found: {
      compare: { work: string; label: string; perSecond: number; p99: number }[];
      memory: { atRest: number; most: number }[];
      start: { median: number };
    };
  };
  const rowOf = (work: string, label: string) =>
    found.compare.find((row) => row.work === work && row.label === label);

  test('docs/performance.md has the figures of the last run of the benchmark', () => {
    const works = [...new Set(found.compare.map(({ work }) => work))];
    const expected = works.map((work) => {
      const [ours, fastify, limit] = ['animal-store', 'fastify', 'node-http'].map((label) =>
        rowOf(work, label),
      );
      const cells = [ours, fastify].flatMap((row) => [
        whole(Math.round(row?.perSecond ?? 0)),
        row?.p99.toFixed(1),
      ]);
      return [...cells, whole(Math.round(limit?.perSecond ?? 0))];
    });
    expect(tableBelow('docs/performance.md', 'Requests per second').map((row) => row.slice(1))).toEqual(
      expected,
    );
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
    const shown = found.compare.filter(({ label }) =>
      ['animal-store', 'fastify', 'node-http'].includes(label),
    );
    expect(shown).toHaveLength(15);
    for (const { perSecond } of shown) expect(chart).toContain(whole(Math.round(perSecond)));
  });
});

test('the manuals and the files of deploy name the version of the package', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const [release = ''] = version.split('-');
  const files = [...MANUALS, 'README.md', ...globSync('deploy/*')];
  const named = files.flatMap((file) => read(file).match(/(?<=animal-store[-:])\d+\.\d+\.\d+/g) ?? []);
  const [major = 0, minor = 0] = release.split('.').map(Number);
  const next = `${major}.${minor + 1}.0`;
  expect(named).toContain(release);
  expect(named.filter((found) => found !== release && found !== next)).toEqual([]);
});
