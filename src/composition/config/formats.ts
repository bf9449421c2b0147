/** The formats of the variables. Each says what is allowed, and turns a text into a value. */

import { isIP } from 'node:net';
import * as v from 'valibot';
import { isOrigin, type RateLimit } from '../../adapters/http/portable.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { mayHoldPassword, refuse } from '../databases/refuse.ts';

/** The title of the schema says what is allowed. */
export type Format<T> = v.GenericSchema<string, T>;

const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type FirstKey = 'print' | 'none';

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };

export const HOST: Format<string> = choice('a host name or an IP address', (text) =>
  isIP(text) !== 0 || /^[\w.-]{1,253}$/.test(text) ? text : undefined,
);

export const LOG_LEVEL: Format<LogLevel> = choice(`one of ${LOG_LEVELS.join(', ')}`, (text) =>
  LOG_LEVELS.find((level) => level === text),
);

export const FIRST_KEY: Format<FirstKey> = choice(
  'print or none',
  (text) => (text === 'print' || text === 'none' ? text : undefined),
  /^file:/,
  'with none, keys create --name NAME > FILE writes a key to a file',
);

export const TRUST_PROXY: Format<number> = choice(
  'the number of proxies in front of the server, from 0 to 100',
  (text) => integerOf(text, 0, 100),
  /[.:/]/,
  'it is no longer a list of their addresses',
);

export const RATE_LIMIT: Format<RateLimit> = choice(
  'a number of requests from 1 to 999999 per s, min or h, such as 100/s',
  (text) => {
    const [, requests, unit = ''] = /^([1-9]\d{0,5})\/(s|min|h)$/.exec(text) ?? [];
    const seconds = SECONDS_OF[unit];
    return seconds === undefined ? undefined : { requests: Number(requests), seconds };
  },
);

/** The OpenAPI document shows the public URL, so it must not have a password. */
export const PUBLIC_URL: Format<string> = choice(
  'an http or https URL without user name, password, query and fragment',
  (text) => {
    const url = URL.parse(text);
    if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
    return `${url.username}${url.password}${url.search}${url.hash}` === ''
      ? url.href.replace(/\/+$/, '')
      : undefined;
  },
);

const ORIGINS_TYPE = 'origins such as https://example.org or capacitor://localhost, without wildcards';

export const ORIGINS: Format<readonly string[]> = format(ORIGINS_TYPE, (text) => {
  const origins = itemsOf(text);
  const wrong = origins.find((item) => !isOrigin(item));
  // An item can be a part of a password.
  return wrong === undefined ? origins : refuse(ORIGINS_TYPE, mayHoldPassword(text) ? text : wrong);
});

// The messages about keys do not show them.
export const API_KEYS: Format<readonly string[]> = format(
  'keys of 32 or more visible ASCII characters, with commas between them',
  (text) => {
    const keys = itemsOf(text);
    const repeated = keys.findIndex((key, index) => keys.indexOf(key) < index);
    if (repeated !== -1) throw invalidRequest(`expected different keys, got key ${repeated + 1} twice`);
    const invalid = keys.findIndex((key) => !/^[\x21-\x2b\x2d-\x7e]{32,}$/.test(key));
    if (invalid === -1) return keys;
    const expected = 'expected 32 or more visible ASCII characters in each, and commas between keys';
    throw invalidRequest(`key ${invalid + 1} of ${keys.length} is invalid: ${expected}`);
  },
);

export const API_KEY: Format<string> = format('the API key for the server', (text) => {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw invalidRequest('expected visible ASCII characters without spaces');
});

export function integer(min: number, max: number): Format<number> {
  return choice(`an integer from ${min} to ${max}`, (text) => integerOf(text, min, max));
}

/** @param parse throws an error whose message says what was expected, without secrets */
export function format<T>(type: string, parse: (text: string) => T): Format<T> {
  return v.pipe(
    v.string(),
    v.title(type),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return parse(dataset.value);
      } catch (error) {
        addIssue({ message: (error as Error).message });
        return NEVER;
      }
    }),
  );
}

/** Refuses a text for which `parse` returns `undefined`, with a hint about the values of older releases. */
function choice<T>(
  type: string,
  parse: (text: string) => T | undefined,
  old: RegExp = /(?!)/,
  hint?: string,
): Format<T> {
  return format(type, (text) => parse(text) ?? refuse(old.test(text) ? `${type} (${hint})` : type, text));
}

/** `Number` alone would read an empty text as 0. */
function integerOf(text: string, min: number, max: number): number | undefined {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}

/** The file of a secret can be empty. */
function itemsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim());
}
