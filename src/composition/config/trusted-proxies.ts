import { BlockList, isIP } from 'node:net';
import { parseList } from './formats.ts';

type Network = readonly [address: string, prefix: number, family: 'ipv4' | 'ipv6'];

const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;

/** An IPv4-mapped IPv6 address. The first 96 bits are fixed. */
const MAPPED = /^::ffff:(?=.*\.)/i;
const MAPPED_BITS = 96;

/** Parses a list of IP addresses and networks (`10.0.0.0/8`), separated by commas. */
export function parseTrustedProxies(text: string): BlockList {
  const networks = parseList(text, 'addresses or networks such as 10.0.0.0/8', parseNetwork);
  const proxies = new BlockList();
  for (const network of networks) proxies.addSubnet(...network);
  return proxies;
}

/** Parses an address or a network. An IPv4-mapped IPv6 address is the IPv4 address. */
function parseNetwork(text: string): Network | undefined {
  const [, given = '', length] = NETWORK.exec(text) ?? [];
  const address = given.replace(MAPPED, '');
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return undefined;
  const bits = family === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length) - (address === given ? 0 : MAPPED_BITS);
  return prefix < 0 || prefix > bits ? undefined : [address, prefix, family === 4 ? 'ipv4' : 'ipv6'];
}
