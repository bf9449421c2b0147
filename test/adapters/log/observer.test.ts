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

function capturedLog(level: 'info' | 'debug' = 'info') {
  const texts: string[] = [];
  const log = logTo({ write: (line) => texts.push(line) }, level);
  return { log, texts, lines: () => texts.map((line) => JSON.parse(line) as Line) };
}

function repeat(times: number, act: (index: number) => void): void {
  for (let index = 0; index < times; index += 1) act(index);
}

const list = { ...OUTCOME, requestId: 'first' };

test('a line has all fields of its request but the name of the API key, whatever was logged before', () => {
  const { log, lines } = capturedLog();
  const { onRequest } = logObserver(log);
  const requests: RequestOutcome[] = [
    { ...list, traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` },
    { ...list, keyId: '2', requestId: 'second', aborted: true },
    { ...list, route: undefined, path: '/v1/x', status: 401, keyId: undefined, requestId: 'third' },
  ];
  for (const request of requests) onRequest?.({ ...request, keyName: 'my-client' });
  const time = expect.any(String);
  expect(lines()).toEqual(
    requests.map((request) => ({ level: 30, time, ...JSON.parse(JSON.stringify(request)), msg: 'request' })),
  );
});

test.each(['silent', 'error', 'warn'])('at level %s, requests are not observed at all', (level) => {
  expect(logObserver(pino({ level }, { write: () => {} }))).not.toHaveProperty('onRequest');
});

test('a successful health check is logged at the level debug only, and a failed one as every request', () => {
  const checks = [
    { route: '/livez' },
    { route: '/readyz' },
    { route: '/livez', status: 400 },
    { route: '/readyz', status: 503 },
  ];
  for (const [level, levels] of [
    ['info', [30, 30]],
    ['debug', [20, 20, 30, 30]],
  ] as const) {
    const { log, lines } = capturedLog(level);
    const { onRequest } = logObserver(log);
    for (const check of checks) onRequest?.({ ...list, ...check, keyId: undefined });
    expect(lines().map((line) => line['level'])).toEqual(levels);
  }
});

test('work that has failed and for which nobody waits is an error', () => {
  const { log, lines } = capturedLog();
  logObserver(log).onFailure?.('the removal', new Error('no privilege'));
  expect(lines()).toMatchObject([{ level: 50, msg: 'the removal failed', err: { message: 'no privilege' } }]);
});

test('a warning and a change in the state of the storage are one line each, with the reason and the detail', () => {
  const { log, lines } = capturedLog();
  const { onStorageState, onWarning } = logObserver(log);
  onStorageState?.(new StorageFault('disk_full', 'the disk is full', { cause: '/data/pets.db: ENOSPC' }));
  onStorageState?.(undefined);
  onWarning?.('a warning');
  const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
  expect(lines()).toEqual([
    {
      level: 50,
      time,
      reason: 'disk_full',
      detail: '/data/pets.db: ENOSPC',
      msg: 'the storage is unavailable: the disk is full',
    },
    { level: 30, time, msg: 'the storage is available again' },
    { level: 40, time, msg: 'a warning' },
  ]);
});

describe('in a flood', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));

  afterEach(() => {
    vi.runAllTimers();
    vi.useRealTimers();
  });

  test('requests without a key holder are limited and counted, whatever their status, and no others', () => {
    const { log, lines } = capturedLog();
    const { onRequest } = logObserver(log);
    const ofStrangers = [200, 401, 503].map((status) => ({ ...list, status, keyId: undefined }));
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
        suppressed: 200,
        msg: 'requests without a key holder were not logged',
      },
    ]);
    for (const request of ofStrangers) onRequest?.(request);
    expect(lines().filter(isOfStranger)).toHaveLength(103);
  });

  test('errors of one kind are logged once per second, with all details of the first and the number of the others', () => {
    const { log, lines } = capturedLog();
    const { onError } = logObserver(log);
    const full = () =>
      new AnimalStoreError('storage_unavailable', 'the disk is full (SQLITE_FULL)', {
        cause: Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' }),
      });
    repeat(2000, (index) => onError?.(full(), `full-${index}`));
    repeat(3, (index) => onError?.(new TypeError(`${index} is not a function`), `type-${index}`));
    const err = {
      code: 'storage_unavailable',
      stack: expect.stringContaining('caused by: Error: database or disk'),
    };
    expect(lines()).toMatchObject([
      { level: 50, requestId: 'full-0', msg: 'request failed', err },
      { level: 50, requestId: 'type-0', err: { type: 'TypeError', message: '0 is not a function' } },
    ]);
    vi.advanceTimersByTime(1000);
    const msg = 'more requests failed in the same way';
    expect(lines().slice(2)).toMatchObject([
      { level: 50, kind: 'storage_unavailable: SQLITE_FULL', suppressed: 1999, msg },
      { level: 50, kind: 'TypeError', suppressed: 2 },
    ]);
    onError?.(full(), 'again', '192.0.2.1');
    expect(lines().at(-1)).toMatchObject({ requestId: 'again', address: '192.0.2.1', err });
    vi.advanceTimersByTime(1000);
    expect(lines()).toHaveLength(5);
  });

  test('each second begins with its first event, whatever was suppressed before it', () => {
    const { log, lines } = capturedLog();
    const { onError } = logObserver(log);
    for (const wait of [0, 600, 500, 600]) {
      vi.advanceTimersByTime(wait);
      onError?.(new TypeError('failed'), `after ${wait}`);
    }
    expect(lines()).toMatchObject([{ requestId: 'after 0' }, { suppressed: 1 }, { requestId: 'after 500' }]);
  });

  test('what was suppressed until the exit of the process is reported once', () => {
    const { log, lines } = capturedLog();
    const { onError } = logObserver(log);
    repeat(3, () => onError?.(new TypeError('failed'), 'id'));
    reportSuppressed();
    expect(lines().slice(1)).toMatchObject([{ kind: 'TypeError', suppressed: 2 }]);
    reportSuppressed();
    vi.advanceTimersByTime(1000);
    expect(lines()).toHaveLength(2);
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
    onError?.(
      Object.assign(error, { body: key, headers: { authorization: key }, code: `E${index}${key}` }),
      'id',
    );
  }
  for (const thrown of [`text ${key}`, { key }, Object.create(null), null, 7n, Symbol(key)])
    onError?.(thrown, 'id');
  const circular = new Error('circular');
  circular.cause = circular;
  onError?.(circular, 'id');
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
