import { isIP } from 'node:net';
import { fenced } from '../../../application/fenced.ts';

/** The addresses of trusted proxies. `BlockList` of `node:net` is assignable to this type. */
export interface TrustedProxies {
  /** Returns whether an address belongs to a trusted proxy. */
  check(address: string, family: 'ipv4' | 'ipv6'): boolean;
}

/** The rest of `X-Forwarded-For`, and a longer element, are ignored. */
const MAX_PROXIES = 16;
const MAX_ELEMENT_LENGTH = 64;

const MAPPED_PREFIX = '::ffff:';

/** An element with brackets or a port: `[2001:db8::1]`, `[2001:db8::1]:443` or `192.0.2.1:443`. */
const BRACKETS_OR_PORT = /^(?:\[([\da-f:.]+)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/;

/** The last element of `X-Forwarded-Proto`. */
const LAST_SCHEME = /(?:^|,)\s*(https?)\s*$/i;

/**
 * Returns the address of the client: that of the peer, or, if this is a trusted proxy, the rightmost address in
 * `X-Forwarded-For` that is not a trusted proxy. A client can write anything to the left of it, so nothing there is read.
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | string[] | undefined,
  proxies: TrustedProxies | undefined,
): string | undefined {
  if (peer === undefined) return undefined;
  let client = unmapped(peer);
  if (proxies === undefined || typeof forwardedFor !== 'string') return client;
  let end = forwardedFor.length;
  for (let hops = 0; hops < MAX_PROXIES && end >= 0 && isTrusted(client, proxies); hops++) {
    const start = forwardedFor.lastIndexOf(',', end - 1) + 1;
    const address = end - start > MAX_ELEMENT_LENGTH ? undefined : addressIn(forwardedFor.slice(start, end));
    if (address === undefined) return client;
    client = address;
    end = start - 1;
  }
  return client;
}

/** Returns the last value of `X-Forwarded-Proto` if the peer is a trusted proxy and the value is a scheme of HTTP. */
export function forwardedProtocol(
  peer: string | undefined,
  forwardedProto: string | string[] | undefined,
  proxies: TrustedProxies | undefined,
): string | undefined {
  if (peer === undefined || proxies === undefined || typeof forwardedProto !== 'string') return undefined;
  return isTrusted(unmapped(peer), proxies)
    ? LAST_SCHEME.exec(forwardedProto)?.[1]?.toLowerCase()
    : undefined;
}

/** Converts an IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) to an IPv4 address. */
function unmapped(address: string): string {
  return address.startsWith(MAPPED_PREFIX) && address.includes('.')
    ? address.slice(MAPPED_PREFIX.length)
    : address;
}

/** Whatever the check of a host returns is no trust, unless it is `true`: a promise, for example, or an exception. */
function isTrusted(address: string, proxies: TrustedProxies): boolean {
  const [withoutZone = ''] = address.split('%', 1);
  return fenced(() => proxies.check(withoutZone, address.includes(':') ? 'ipv6' : 'ipv4')) === true;
}

/** Returns the IP address in an element of `X-Forwarded-For`, without a port. */
function addressIn(element: string): string | undefined {
  const text = element.trim().toLowerCase();
  const match = BRACKETS_OR_PORT.exec(text);
  const address = match?.[1] ?? match?.[2] ?? text;
  // An IPv6 address with a zone (`fe80::1%eth0`) has a meaning on one machine only, and the zone can be any text.
  return isIP(address) === 0 || address.includes('%') ? undefined : unmapped(address);
}
