import { BlockList } from 'node:net';
import { describe, expect, test } from 'vitest';
import {
  cachedProxies,
  clientAddress,
  forwardedProtocol,
} from '../../../src/adapters/http/api/client-address.ts';

const PROXIES = new BlockList();
PROXIES.addSubnet('10.0.0.0', 8);
PROXIES.addAddress('fe80::1', 'ipv6');

describe('the address of a client', () => {
  test.each([
    ['no proxy is trusted', '10.0.0.1', '203.0.113.9', undefined, '10.0.0.1'],
    ['the peer is not trusted', '192.0.2.1', '203.0.113.9', PROXIES, '192.0.2.1'],
    ['the field is missing', '10.0.0.1', undefined, PROXIES, '10.0.0.1'],
    ['the field is empty', '10.0.0.1', '', PROXIES, '10.0.0.1'],
    ['a trusted peer names the client', '10.0.0.1', '203.0.113.9', PROXIES, '203.0.113.9'],
    ['the client wrote the field too', '10.0.0.1', '198.51.100.1, 203.0.113.9', PROXIES, '203.0.113.9'],
    ['the client wrote a trusted address', '10.0.0.1', '10.0.0.9, 203.0.113.9', PROXIES, '203.0.113.9'],
    ['there are several proxies', '10.0.0.1', '203.0.113.9, 10.0.0.3,10.0.0.2', PROXIES, '203.0.113.9'],
    ['every address is trusted', '10.0.0.1', '10.0.0.3, 10.0.0.2', PROXIES, '10.0.0.3'],
    ['the peer is IPv4-mapped', '::ffff:10.0.0.1', '203.0.113.9', PROXIES, '203.0.113.9'],
    ['the client is IPv4-mapped', '10.0.0.1', '::FFFF:203.0.113.9', PROXIES, '203.0.113.9'],
    ['the peer is mapped and not trusted', '::ffff:192.0.2.1', '203.0.113.9', PROXIES, '192.0.2.1'],
    ['the peer has a zone', 'fe80::1%eth0', '203.0.113.9', PROXIES, '203.0.113.9'],
    ['the client has IPv6', '10.0.0.1', '2001:DB8::9', PROXIES, '2001:db8::9'],
    ['the client has IPv6 in brackets', '10.0.0.1', '[2001:db8::9]', PROXIES, '2001:db8::9'],
    ['a port follows IPv6', '10.0.0.1', '[2001:db8::9]:443', PROXIES, '2001:db8::9'],
    ['a port follows IPv4', '10.0.0.1', '203.0.113.9:443', PROXIES, '203.0.113.9'],
    ['the address is a word', '10.0.0.1', 'unknown', PROXIES, '10.0.0.1'],
    ['an invalid element precedes the proxies', '10.0.0.1', '203.0.113.9, x, 10.0.0.2', PROXIES, '10.0.0.2'],
    ['an element is empty', '10.0.0.1', '203.0.113.9,', PROXIES, '10.0.0.1'],
    ['an element has control characters', '10.0.0.1', '203.0.113.9\u0085\n', PROXIES, '10.0.0.1'],
    ['an element has a zone', '10.0.0.1', 'fe80::2%secret', PROXIES, '10.0.0.1'],
    ['an element is long', '10.0.0.1', `${' '.repeat(1000)}203.0.113.9`, PROXIES, '10.0.0.1'],
    ['the peer is unknown', undefined, '203.0.113.9', PROXIES, undefined],
  ])('when %s', (_name, peer, forwardedFor, proxies, expected) => {
    expect(clientAddress(peer, forwardedFor, proxies)).toBe(expected);
  });

  test('is determined from at most 16 elements, so a list of 10,000 proxies costs as much as 16', () => {
    let checks = 0;
    const counting = {
      check: () => {
        checks += 1;
        return true;
      },
    };
    const list = Array.from({ length: 10_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
    expect(clientAddress('10.0.0.1', list.join(), counting)).toBe('10.0.39.0');
    expect(checks).toBe(16);
  });
});

test('each of the last addresses is checked once, and any number of addresses is checked correctly', () => {
  const checked: string[] = [];
  const proxies = cachedProxies({
    check: (address, family) => {
      checked.push(address);
      return PROXIES.check(address, family);
    },
  });
  for (let round = 1; round <= 3; round += 1) {
    expect(clientAddress('10.0.0.1', '203.0.113.9, 10.0.0.2', proxies)).toBe('203.0.113.9');
  }
  expect(checked).toEqual(['10.0.0.1', '10.0.0.2']);
  for (let index = 0; index < 3000; index += 1) {
    const client = `203.0.${index >> 8}.${index & 255}`;
    expect(clientAddress('10.0.0.1', `198.51.100.1,${client}`, proxies)).toBe(client);
  }
  expect(clientAddress('10.0.0.1', '203.0.113.9, 10.0.0.2', proxies)).toBe('203.0.113.9');
  expect(new Set(checked).size).toBe(3002);
  expect(cachedProxies(undefined)).toBeUndefined();
});

describe('the scheme of a URL', () => {
  test.each([
    ['10.0.0.1', 'https', PROXIES, 'https'],
    ['::ffff:10.0.0.1', 'HTTPS', PROXIES, 'https'],
    ['10.0.0.1', 'https, http', PROXIES, 'http'],
    ['10.0.0.1', 'javascript', PROXIES, undefined],
    ['10.0.0.1', '', PROXIES, undefined],
    ['10.0.0.1', undefined, PROXIES, undefined],
    ['192.0.2.1', 'https', PROXIES, undefined],
    ['10.0.0.1', 'https', undefined, undefined],
    [undefined, 'https', PROXIES, undefined],
  ])('of the peer %s with X-Forwarded-Proto: %s', (peer, proto, proxies, expected) => {
    expect(forwardedProtocol(peer, proto, proxies)).toBe(expected);
  });
});
