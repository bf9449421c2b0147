import { expect, test } from 'vitest';
import { configuredKeyMask } from '../../../src/adapters/log/configured-keys.ts';
import { logTo } from '../../../src/adapters/log/log.ts';
import { logObserver } from '../../../src/adapters/log/observer.ts';

const KEY = 'an/operators+own?key<of>32-characters';

test.each([
  ['the whole key', `/nothing/${KEY}`],
  ['the key, percent-encoded', `/nothing/${encodeURIComponent(KEY)}/more`],
  ['the key, cut off at its end', `/nothing/${KEY.slice(0, 20)}…`],
  ['the end of the key', `/nothing/${KEY.slice(-16)}`],
  ['malformed encoding beside the key', `/%zz%/${KEY}`],
])('masks a text with %s', (_case, text) => {
  expect(configuredKeyMask(['another-key-of-32-characters-or-more', KEY])(text)).toBe('…');
});

test('masks a key that itself contains percent signs', () => {
  const key = 'ab%41cd-ef%42gh-of-32-characters-or-more';
  expect(configuredKeyMask([key])(`/nothing/${key}`)).toBe('…');
});

test.each(['/nothing', '/%zz%', `/nothing/${KEY.slice(0, 15)}`, '/a/long/path/without/any/part/of/a/key'])(
  'leaves other texts unchanged: %s',
  (text) => {
    expect(configuredKeyMask([KEY])(text)).toBe(text);
    expect(configuredKeyMask([])(`${text}${KEY}`)).toBe(`${text}${KEY}`);
  },
);

test('no log line has a configured key that a client sent as a path, a request id or a traceparent', () => {
  const lines: string[] = [];
  const hexKey = 'a1b2c3d4e5f60718a1b2c3d4e5f60718';
  const { onRequest, onError } = logObserver(logTo({ write: (line) => lines.push(line) }, 'info'), {
    apiKeys: [KEY, hexKey],
  });
  onRequest?.({
    method: 'GET',
    route: undefined,
    path: `/${KEY}`,
    status: 404,
    ms: 1,
    requestId: KEY,
    keyId: undefined,
    address: undefined,
    aborted: undefined,
    traceparent: `00-${hexKey}-${'b'.repeat(16)}-01`,
  });
  onError?.(new Error('oh'), KEY, undefined);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { path: '…', requestId: '…', status: 404, traceparent: '…' },
    { requestId: '…', msg: 'request failed' },
  ]);
  expect(lines.join('')).not.toContain(KEY.slice(3, 15));
});
