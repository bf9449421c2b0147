import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { logTo } from '../../../src/adapters/log/log.ts';
import { logObserver, reportSuppressed } from '../../../src/adapters/log/observer.ts';
import type { RequestOutcome } from '../../../src/application/ports/request-observer.ts';
import { StorageFault } from '../../../src/application/ports/storage-fault.ts';
import { formatApiKey } from '../../../src/domain/api-key.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import { OUTCOME } from '../../support/outcome.ts';

type Line = Record<string, unknown>;

function logged(requests: readonly RequestOutcome[], level = 'info'): Line[] {
  const lines: string[] = [];
  const log = pino({ level, base: null, timestamp: false }, { write: (line) => lines.push(line) });
  const { onRequest } = logObserver(log);
  for (const request of requests) onRequest?.(request);
  return lines.map((line) => JSON.parse(line));
}

function capturedLog() {
  const texts: string[] = [];
  const log = logTo({ write: (line) => texts.push(line) }, 'info');
  return { log, texts, lines: () => texts.map((line) => JSON.parse(line) as Line) };
}

function repeat(times: number, act: (index: number) => void): void {
  for (let index = 0; index < times; index += 1) act(index);
}

const list = { ...OUTCOME, requestId: 'first' };

test('each line has all fields of its own request, whatever was logged before', () => {
  const requests: RequestOutcome[] = [
    list,
    { ...list, ms: 1, requestId: 'second' },
    { ...list, status: 304, requestId: 'third' },
    { ...list, keyId: '2', requestId: 'fourth', aborted: true },
    { ...list, method: 'POST', status: 201, requestId: 'fifth' },
    { ...list, route: undefined, path: '/v1/x', status: 401, keyId: undefined, requestId: 'sixth' },
    { ...list, address: '2001:db8::1', requestId: 'seventh' },
    { ...list, route: undefined, path: '/a', status: 404, requestId: 'eighth' },
    { ...list, route: undefined, path: '/b', status: 404, requestId: 'ninth', address: undefined },
    { ...list, requestId: 'tenth', traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
  ];
  const expected = requests.map((request) => ({
    level: 30,
    ...JSON.parse(JSON.stringify(request)),
    msg: 'request',
  }));
  expect(logged(requests)).toEqual(expected);
});

test.each(['silent', 'error', 'warn'])('at level %s, requests are not observed at all', (level) => {
  expect(logObserver(pino({ level }, { write: () => {} }))).not.toHaveProperty('onRequest');
});

test('a change in the state of the storage is one line, with the reason and the detail', () => {
  const { log, lines } = capturedLog();
  const { onStorageState } = logObserver(log);
  onStorageState?.(new StorageFault('disk_full', 'the disk is full', { cause: '/data/pets.db: ENOSPC' }));
  onStorageState?.(undefined);
  const time = expect.any(String);
  expect(lines()).toEqual([
    {
      level: 50,
      time,
      reason: 'disk_full',
      detail: '/data/pets.db: ENOSPC',
      msg: 'the storage is unavailable: the disk is full',
    },
    { level: 30, time, msg: 'the storage is available again' },
  ]);
});

describe('in a flood', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  });

  afterEach(() => {
    vi.runAllTimers();
    vi.useRealTimers();
  });

  test('requests without a key holder are limited and counted, whatever their status, and no others', () => {
    const { log, lines } = capturedLog();
    const { onRequest } = logObserver(log);
    const ofStrangers = [200, 204, 304, 400, 401, 404, 405, 408, 431, 500, 503].map((status) => ({
      ...list,
      status,
      keyId: undefined,
    }));
    ofStrangers.push({ ...list, keyId: undefined, ms: 5000 }, { ...list, keyId: undefined, aborted: true });
    const others = [list, { ...list, status: 404 }, { ...list, status: 503 }];
    repeat(100, () => {
      for (const request of [...ofStrangers, ...others]) onRequest?.(request);
    });
    const isOfStranger = (line: Line) => line['msg'] === 'request' && line['keyId'] === undefined;
    expect(lines().filter(isOfStranger)).toHaveLength(100);
    expect(lines()).toHaveLength(100 + 300);
    vi.advanceTimersByTime(1000);
    expect(lines().slice(400)).toEqual([
      {
        level: 40,
        time: expect.any(String),
        suppressed: 1200,
        msg: 'requests without a key holder were not logged',
      },
    ]);
    for (const request of ofStrangers) onRequest?.(request);
    expect(lines().filter(isOfStranger)).toHaveLength(113);
  });

  test('errors of one kind are logged once per second, with all details of the first and the number of the others', () => {
    const { log, lines } = capturedLog();
    const { onError } = logObserver(log);
    const full = () =>
      new AnimalStoreError('storage_unavailable', 'the disk is full (SQLITE_FULL)', {
        cause: Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }),
      });
    repeat(2000, (index) => onError(full(), `full-${index}`));
    repeat(3, (index) => onError(new TypeError(`${index} is not a function`), `type-${index}`));
    expect(lines()).toMatchObject([
      {
        level: 50,
        requestId: 'full-0',
        msg: 'request failed',
        err: {
          type: 'AnimalStoreError',
          code: 'storage_unavailable',
          message: 'the disk is full (SQLITE_FULL)',
          stack: expect.stringMatching(
            /^AnimalStoreError: .*\n +at (?:.*\n)*caused by: Error: database or disk is full\n +at /,
          ),
        },
      },
      { level: 50, requestId: 'type-0', err: { type: 'TypeError', message: '0 is not a function' } },
    ]);
    vi.advanceTimersByTime(1000);
    expect(lines().slice(2)).toMatchObject([
      {
        level: 50,
        kind: 'storage_unavailable: SQLITE_FULL',
        suppressed: 1999,
        msg: 'more requests failed in the same way',
      },
      { level: 50, kind: 'TypeError', suppressed: 2 },
    ]);
    onError(full(), 'again', '192.0.2.1');
    expect(lines().at(-1)).toMatchObject({
      requestId: 'again',
      address: '192.0.2.1',
      err: { code: 'storage_unavailable' },
    });
  });

  test('errors that all differ are limited too', () => {
    const { log, texts } = capturedLog();
    const { onError } = logObserver(log);
    repeat(1000, (index) =>
      onError(Object.assign(new Error('x'.repeat(100_000)), { code: `E${index}` }), 'id'),
    );
    // As at the exit of the process.
    reportSuppressed();
    expect(texts.length).toBeLessThan(60);
    expect(texts.at(-1)).toContain('"suppressed":949');
    for (const text of texts) expect(text.length).toBeLessThan(20_000);
  });
});

test('an error is logged without API keys and without its other properties', () => {
  const { log, texts, lines } = capturedLog();
  const { onError } = logObserver(log);
  const key = formatApiKey(crypto.getRandomValues(new Uint8Array(32)));
  const causes: unknown[] = [
    new Error(`cause ${key}`),
    `cause ${key}`,
    { toString: () => key },
    { message: key },
  ];
  for (const [index, cause] of causes.entries()) {
    const error = new Error(`message ${index} ${key}`, { cause });
    onError(
      Object.assign(error, { body: key, headers: { authorization: key }, code: `E${index}${key}` }),
      'id',
    );
  }
  for (const thrown of [`text ${key}`, { key }, Object.create(null), null, 7n, Symbol(key)])
    onError(thrown, 'id');
  const circular = new Error('circular');
  circular.cause = circular;
  onError(circular, 'id');
  // Three of the thrown values are objects, which count as one kind.
  expect(lines()).toHaveLength(causes.length + 4 + 1);
  for (const line of lines())
    expect(line).toMatchObject({ msg: 'request failed', err: { message: expect.any(String) } });
  for (const part of [key, key.slice(10, 26)]) expect(texts.join('')).not.toContain(part);
  expect(texts[0]).toContain('caused by: Error: cause pets_');
});

test('no line contains an API key, wherever it stands', () => {
  const { log, texts } = capturedLog();
  const key = formatApiKey(crypto.getRandomValues(new Uint8Array(32)));
  log.warn({ path: `/x/${key}`, nested: { [key]: [key] } }, `key ${key}`);
  log.child({ key }).info(encodeURIComponent(key).replace('_', '%5F'));
  expect(texts).toHaveLength(2);
  for (const part of [key, key.slice(10, 26)]) expect(texts.join('')).not.toContain(part);
});
