/** What the server takes from a request for its log and its links: the address, the scheme and an unmatched path. */

import { BlockList } from 'node:net';
import { describe, expect, test } from 'vitest';
import { clientAddress, forwardedProtocol } from '../../../src/adapters/http/api/client-address.ts';
import { unmatchedPath } from '../../../src/adapters/http/api/observe.ts';

const PROXIES = new BlockList();
PROXIES.addSubnet('10.0.0.0', 8);
PROXIES.addAddress('fe80::1', 'ipv6');

describe('the address of a client', () => {
  test.each([
    ['the field is missing', '10.0.0.1', undefined, '10.0.0.1'],
    ['the field is empty', '10.0.0.1', '', '10.0.0.1'],
    ['the peer is not trusted', '192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['the peer is mapped and not trusted', '::ffff:192.0.2.1', '203.0.113.9', '192.0.2.1'],
    ['the peer is unknown', undefined, '203.0.113.9', undefined],
    ['the peer is IPv4-mapped', '::ffff:10.0.0.1', '203.0.113.9', '203.0.113.9'],
    ['the peer is mapped in hexadecimal', '::ffff:c000:201', '203.0.113.9', '::ffff:c000:201'],
    ['the peer has a zone', 'fe80::1%eth0', '203.0.113.9', '203.0.113.9'],
    ['the client wrote the field too', '10.0.0.1', '198.51.100.1, 203.0.113.9', '203.0.113.9'],
    ['the client wrote a trusted address', '10.0.0.1', '10.0.0.9, 203.0.113.9', '203.0.113.9'],
    ['there are several proxies', '10.0.0.1', '203.0.113.9, 10.0.0.3,10.0.0.2', '203.0.113.9'],
    ['every address is trusted', '10.0.0.1', '10.0.0.31, 10.0.0.2', '10.0.0.31'],
    ['an empty element precedes the proxies', '10.0.0.1', ',10.0.0.2', '10.0.0.2'],
    ['the client is IPv4-mapped', '10.0.0.1', '::FFFF:203.0.113.9', '203.0.113.9'],
    ['the client has IPv6', '10.0.0.1', '2001:DB8::9', '2001:db8::9'],
    ['the client has IPv6 in brackets', '10.0.0.1', '[2001:db8::9]', '2001:db8::9'],
    ['a port follows IPv6', '10.0.0.1', '[2001:db8::9]:443', '2001:db8::9'],
    ['a port follows IPv4', '10.0.0.1', '203.0.113.9:443', '203.0.113.9'],
    ['the address is a word', '10.0.0.1', 'unknown', '10.0.0.1'],
    ['an invalid element precedes the proxies', '10.0.0.1', '203.0.113.9, x, 10.0.0.2', '10.0.0.2'],
    ['an element is empty', '10.0.0.1', '203.0.113.9,', '10.0.0.1'],
    ['an element has control characters', '10.0.0.1', '203.0.113.9\u0085\n', '10.0.0.1'],
    ['an element has a zone', '10.0.0.1', 'fe80::2%secret', '10.0.0.1'],
    ['an element has 64 characters', '10.0.0.1', '203.0.113.9'.padStart(64), '203.0.113.9'],
    ['an element has 65 characters', '10.0.0.1', '203.0.113.9'.padStart(65), '10.0.0.1'],
  ])('when %s', (_name, peer, forwardedFor, expected) => {
    expect(clientAddress(peer, forwardedFor, PROXIES)).toBe(expected);
  });

  test('is the address of the peer if no proxy is trusted', () => {
    expect(clientAddress('10.0.0.1', '203.0.113.9', undefined)).toBe('10.0.0.1');
    expect(clientAddress('::ffff:10.0.0.1', '203.0.113.9', undefined)).toBe('10.0.0.1');
  });

  test('is checked without its zone, as an address of its family', () => {
    const checked: string[] = [];
    const proxies = { check: (...address: string[]) => checked.push(address.join(' ')) > 0 };
    for (const peer of ['fe80::1%eth0', 'fe80::1', '192.0.2.1']) clientAddress(peer, '', proxies);
    expect(checked).toEqual(['fe80::1 ipv6', 'fe80::1 ipv6', '192.0.2.1 ipv4']);
  });

  test('is determined from at most 16 elements, so a list of 10,000 proxies costs as much as 16', () => {
    const checked: string[] = [];
    const counting = { check: (address: string) => checked.push(address) > 0 };
    const list = Array.from({ length: 10_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    expect(clientAddress('10.0.0.1', list.join(), counting)).toBe('10.0.39.0');
    expect(checked).toHaveLength(16);
  });
});

describe('the scheme of a URL', () => {
  test.each([
    ['10.0.0.1', 'https', PROXIES, 'https'],
    ['::ffff:10.0.0.1', 'HTTPS', PROXIES, 'https'],
    ['10.0.0.1', 'https, http', PROXIES, 'http'],
    ['10.0.0.1', 'javascript', PROXIES, undefined],
    ['10.0.0.1', undefined, PROXIES, undefined],
    ['192.0.2.1', 'https', PROXIES, undefined],
    ['10.0.0.1', 'https', undefined, undefined],
    [undefined, 'https', PROXIES, undefined],
  ])('of the peer %s with X-Forwarded-Proto: %s', (peer, proto, proxies, expected) => {
    expect(forwardedProtocol(peer, proto, proxies)).toBe(expected);
  });
});

test.each([
  ['/', '/'],
  ['/v1/pets', '/v1/pets'],
  ['/v1/pets/', '/v1/pets/… (9 characters)'],
  ['/v1/pets/7', '/v1/pets/… (10 characters)'],
  ['/v1/store/orders', '/v1/store/orders'],
  ['/v1/store/orders/7', '/v1/store/orders/… (18 characters)'],
  ['/docs/secret/pets', '/docs/… (17 characters)'],
  ['/V1/pets', '/… (8 characters)'],
  ['//v1', '/… (4 characters)'],
  ['/%761/secret', '/… (12 characters)'],
  ['/v1\u0085', '/… (4 characters)'],
  [`/v1${'/pets'.repeat(3000)}`, '/v1/pets/pets/… (15003 characters)'],
  ['/wrong?api_key=secret', '/… (6 characters)'],
  ['/wrong#secret', '/… (6 characters)'],
  ['http://me:secret@example.org/v1/secret?x', '/v1/… (10 characters)'],
  ['http://me:secret@example.org', '/'],
  ['http://me:secret@example.org?secret', '/'],
  ['*', undefined],
  ['me:secret@example.org', undefined],
])('only the known segments of a path that no route matches are shown: %s', (url, expected) => {
  expect(unmatchedPath(url)).toBe(expected);
});
