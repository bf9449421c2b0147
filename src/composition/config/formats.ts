import { BlockList, isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { isOrigin } from '../../adapters/http/portable.ts';
import type { RateLimit } from '../../adapters/http/index.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { mayHoldPassword, refuse } from '../databases/refuse.ts';
import type { Parse } from './settings.ts';

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The first key of a store is printed, or written to the file at `path`, or not created. */
export type FirstKey = 'print' | { readonly path: string } | 'none';

type Network = readonly [address: string, prefix: number, family: 'ipv4' | 'ipv6'];

const NETWORK = /^([^/]+)(?:\/(\d{1,3}))?$/;

/** An IPv4-mapped IPv6 address, of which 96 bits are fixed. */
const MAPPED = /^::ffff:(?=.*\.)/i;
const MAPPED_BITS = 96;

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };

export const HOST: Parse<string> = format('a host name or an IP address', (text) =>
  isIP(text) !== 0 || /^[\w.-]{1,253}$/.test(text) ? text : undefined,
);

export const FIRST_KEY: Parse<FirstKey> = format('print, file:PATH or none', (text) => {
  const [, path] = /^file:(.+)$/.exec(text) ?? [];
  if (path !== undefined) return /^[~$]/.test(path) ? undefined : { path };
  return text === 'print' || text === 'none' ? text : undefined;
});

export const LOG_LEVEL: Parse<LogLevel> = format(`one of ${LOG_LEVELS.join(', ')}`, (text) =>
  LOG_LEVELS.find((level) => level === text),
);

/** The number of requests of which one is logged. */
export const FRACTION: Parse<number> = format('1 or a share from 1/1 to 1/999999, such as 1/100', (text) => {
  const match = /^1(?:\/([1-9]\d{0,5}))?$/.exec(text);
  return match === null ? undefined : Number(match[1] ?? 1);
});

export const RATE_LIMIT: Parse<RateLimit> = format(
  'a number of requests from 1 to 999999 per s, min or h, such as 100/s',
  (text) => {
    const [, requests, unit = ''] = /^([1-9]\d{0,5})\/(s|min|h)$/.exec(text) ?? [];
    const seconds = SECONDS_OF[unit];
    return seconds === undefined ? undefined : { requests: Number(requests), seconds };
  },
);

const MAX_WORKERS = 64;

export const WORKERS: Parse<number> = format(`auto or an integer from 1 to ${MAX_WORKERS}`, (text) => {
  if (text === 'auto') return Math.min(availableParallelism(), MAX_WORKERS);
  return /^[1-9]\d?$/.test(text) && Number(text) <= MAX_WORKERS ? Number(text) : undefined;
});

/** The OpenAPI document shows the public URL, so it must not have a password. */
export const PUBLIC_URL: Parse<string> = format(
  'an http or https URL without user name, password, query and fragment',
  (text) => {
    const url = webUrl(text);
    const isPlain = url !== undefined && `${url.username}${url.password}${url.search}${url.hash}` === '';
    return isPlain ? url.href.replace(/\/+$/, '') : undefined;
  },
);

export const ORIGINS: Parse<readonly string[]> = (text) =>
  parseList(text, 'origins such as https://example.org, without wildcards', (item) =>
    isOrigin(item) ? item : undefined,
  );

export const NETWORKS: Parse<BlockList> = (text) => {
  const proxies = new BlockList();
  for (const network of parseList(text, 'addresses or networks such as 10.0.0.0/8', parseNetwork)) {
    proxies.addSubnet(...network);
  }
  return proxies;
};

// The messages about keys do not show them.
export const API_KEYS: Parse<readonly string[]> = (text) => {
  const keys = itemsOf(text);
  const repeated = keys.findIndex((key, index) => keys.indexOf(key) < index);
  if (repeated !== -1) throw invalidRequest(`expected different keys, got key ${repeated + 1} twice`);
  const invalid = keys.findIndex((key) => !/^[\x21-\x2b\x2d-\x7e]{32,}$/.test(key));
  if (invalid === -1) return keys;
  const place = `key ${invalid + 1} of ${keys.length}`;
  throw invalidRequest(
    `${place} is invalid: expected 32 or more visible ASCII characters in each, and commas between keys`,
  );
};

export const API_KEY: Parse<string> = (text) => {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw invalidRequest('expected visible ASCII characters without spaces');
};

export function integer(min: number, max: number): Parse<number> {
  return format(`an integer from ${min} to ${max}`, (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

/** Shows the first invalid item, unless the list may contain a password: an item can then be a part of the password. */
function parseList<T>(text: string, what: string, parseItem: (item: string) => T | undefined): readonly T[] {
  const values: T[] = [];
  for (const item of itemsOf(text)) {
    const value = parseItem(item);
    if (value === undefined) refuse(what, mayHoldPassword(text) ? text : item);
    values.push(value);
  }
  return values;
}

function format<T>(what: string, parse: (text: string) => T | undefined): Parse<T> {
  return (text) => parse(text) ?? refuse(what, text);
}

/** The file of a secret can be empty. */
function itemsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim());
}

function webUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

function parseNetwork(text: string): Network | undefined {
  const [, given = '', length] = NETWORK.exec(text) ?? [];
  const address = given.replace(MAPPED, '');
  const family = isIP(address);
  if (family === 0 || address.includes('%')) return undefined;
  const bits = family === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length) - (address === given ? 0 : MAPPED_BITS);
  return prefix < 0 || prefix > bits ? undefined : [address, prefix, family === 4 ? 'ipv4' : 'ipv6'];
}
