/** The parts of a request that the log and links use: the address, the scheme and an unmatched path. */

import { expect, test, vi } from 'vitest';
import type { RequestOutcome } from '../../../src/adapters/http/index.ts';
import { API_KEY_PREFIX, secretPartFinder } from '../../../src/domain/api-key.ts';
import { startServer } from '../../support/server.ts';

const KEY = 'an/operators+own?key<of>32-characters';

const hasPartOfKey = vi.fn<(text: string) => boolean>(secretPartFinder([KEY]));

async function start(trustedProxies: number) {
  const { client, outcomes } = await startServer('memory', {
    trustedProxies,
    apiKeys: { verify: async () => undefined, hasPartOfKey },
  });
  return async (target: string, headers: Record<string, string> = {}) => {
    await client.request('GET', target, { headers, key: null });
    await expect.poll(() => outcomes.length).toBe(1);
    return outcomes.pop() as RequestOutcome;
  };
}

test.each([
  [0, '203.0.113.9', '127.0.0.1'],
  [1, '203.0.113.9', '203.0.113.9'],
  [1, '198.51.100.1, 203.0.113.9', '203.0.113.9'],
  [2, '198.51.100.1, 203.0.113.9', '198.51.100.1'],
  [2, '192.0.2.1, 198.51.100.1, 203.0.113.9', '198.51.100.1'],
  [1, '::ffff:203.0.113.9', '203.0.113.9'],
  [1, '2001:db8::9', '2001:db8::9'],
  [1, 'fe80::2%secret', undefined],
  [1, 'unknown', undefined],
  [1, '203.0.113.9, <script>', undefined],
])('the address of a client behind %i proxies with X-Forwarded-For: %s', async (proxies, value, expected) => {
  const outcomeOf = await start(proxies);
  expect((await outcomeOf('/livez', { 'X-Forwarded-For': value })).address).toBe(expected);
  expect((await outcomeOf('/livez')).address).toBe('127.0.0.1');
});

const NAME = API_KEY_PREFIX.slice(0, -1);
const ENCODED = NAME.replaceAll(/./g, (letter) => `%${letter.charCodeAt(0).toString(16)}`);
const ENCODED_TWICE = `%25${ENCODED.slice(1, 3)}${NAME.slice(1)}%255f`;
const LONG = '/x'.repeat(300);

test.each<[target: string, expected: string, headers?: Record<string, string>]>([
  ['/nothing', '/nothing'],
  ['/nothing/7?query#fragment', '/nothing/7'],
  ['/caf%C3%A9', '/caf%C3%A9'],
  [LONG, LONG.slice(0, 200)],
  ...[`/${NAME}_abc`, `/v1/${NAME.toUpperCase()}_abc`, `/${ENCODED}_abc`, `/${ENCODED_TWICE}abc`].map(
    (path): [string, string] => [path, `… (${path.length} characters)`],
  ),
  ['/%252541', '/%252541'],
  ...['/%25252541', `/%${'25'.repeat(99)}`].map((path): [string, string] => [
    path,
    `… (${path.length} characters)`,
  ]),
  [LONG, '… (600 characters)', { Authorization: 'x'.repeat(10_000) }],
  [`/x/${encodeURIComponent(KEY)}`, '… (50 characters)'],
  [`/x/${encodeURIComponent(KEY.slice(5, 25))}/y`, '… (33 characters)'],
])(
  'an observer is told the path of a request that no route matches, unless it has a key: %s',
  async (target, expected, headers) => {
    const outcomeOf = await start(0);
    hasPartOfKey.mockClear();
    expect((await outcomeOf(target, headers)).path).toBe(expected);
    // However often the path is encoded, it is searched a few times only.
    expect(hasPartOfKey.mock.calls.length).toBeLessThan(5);
  },
);

test('a part of the key that the client presents is masked, and a route has no path', async () => {
  const { client, key, outcomes } = await startServer('memory');
  await client.get(`/v1/${key.slice(20, 40)}`);
  await client.get('/v1/pets/7');
  await expect.poll(() => outcomes.map(({ path }) => path)).toEqual(['… (24 characters)', undefined]);
});
