import { BlockList, isIP } from 'node:net';
import { mayHoldPassword } from './databases/shown-value.ts';
import { expected, type Fault, listOf } from './settings.ts';

const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;

/** An IPv4-mapped IPv6 address. The first 96 bits are fixed. */
const MAPPED = /^::ffff:(?=.*\.)/i;
const MAPPED_BITS = 96;

/**
 * Parses a list of IP addresses and networks (`10.0.0.0/8`), separated by commas. An IPv4-mapped IPv6 address is the
 * IPv4 address. Returns `undefined` for an empty text.
 */
export function parseTrustedProxies(text: string): BlockList | undefined | Fault {
  if (text === '') return undefined;
  const proxies = new BlockList();
  for (const item of listOf(text)) {
    if (!add(item, proxies)) {
      return expected('addresses or networks such as 10.0.0.0/8', mayHoldPassword(text) ? text : item);
    }
  }
  return proxies;
}

/** Adds an address or a network to a list. Returns false, and adds nothing, if the text is neither. */
function add(item: string, proxies: BlockList): boolean {
  const [, given = '', length] = NETWORK.exec(item) ?? [];
  const address = given.replace(MAPPED, '');
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return false;
  const bits = family === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length) - (address === given ? 0 : MAPPED_BITS);
  if (prefix < 0 || prefix > bits) return false;
  proxies.addSubnet(address, prefix, family === 4 ? 'ipv4' : 'ipv6');
  return true;
}
