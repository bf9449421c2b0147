/** The formats of the environment variables: they say what is allowed, and turn a text into a value. */

import { isIP } from 'node:net';
import * as v from 'valibot';
import { isOrigin, isPublicUrl, type RateLimit } from '../../adapters/http/portable.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { refuse } from '../databases/refuse.ts';

export type Format<T> = v.GenericSchema<string, T>;

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, min: 60, h: 3600 };

export const HOST: Format<string> = format('a host name or an IP address without a zone', (text) =>
  (isIP(text) !== 0 && !text.includes('%')) || /^(?!(\d+\.){3}\d+$)[\w.-]{1,253}$/.test(text)
    ? text
    : undefined,
);

export const RATE_LIMIT: Format<RateLimit> = format(
  'a number of requests from 1 to 999999 per s, min or h, such as 100/s',
  (text) => {
    const [, requests, unit = ''] = /^([1-9]\d{0,5})\/(s|min|h)$/.exec(text) ?? [];
    const seconds = SECONDS_OF[unit];
    return seconds === undefined ? undefined : { requests: Number(requests), seconds };
  },
);

export const PUBLIC_URL: Format<string> = format(
  'an http or https URL without user name, password, query and fragment',
  (text) => (isPublicUrl(text) ? new URL(text).href.replace(/\/+$/, '') : undefined),
);

export const ORIGINS: Format<readonly string[]> = format(
  'origins such as https://example.org or capacitor://localhost, without wildcards',
  (text) => {
    const origins = itemsOf(text);
    return origins.every(isOrigin) ? origins : undefined;
  },
);

// The error messages do not show the keys.
export const API_KEYS: Format<readonly string[]> = format('API keys', (text) => {
  const keys = itemsOf(text);
  const wrong = keys.findIndex(
    (key, index) => !/^[\x21-\x2b\x2d-\x7e]{32,}$/.test(key) || keys.indexOf(key) < index,
  );
  if (wrong === -1) return keys;
  throw invalidRequest(
    `expected different keys of 32 or more visible ASCII characters, with commas between them; key ${wrong + 1} of ${keys.length} is not valid`,
  );
});

export const API_KEY: Format<string> = format('an API key', (text) => {
  if (/^[\x21-\x7e]+$/.test(text)) return text;
  throw invalidRequest('expected visible ASCII characters without spaces');
});

/** Tests for digits first, because `Number` reads an empty text as 0. */
export function integer(min: number, max: number, type = 'an integer'): Format<number> {
  return format(`${type} from ${min} to ${max}`, (text) => {
    const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
  });
}

export function oneOf<const T extends string>(...values: readonly T[]): Format<T> {
  return format(`one of ${values.join(', ')}`, (text) => values.find((value) => value === text));
}

/**
 * Creates a format. If `parse` returns `undefined`, the error message says what was expected, and what was given.
 *
 * @param parse can throw its own error, whose message must not contain a secret
 */
export function format<T>(expected: string, parse: (text: string) => T | undefined): Format<T> {
  return v.pipe(
    v.string(),
    v.rawTransform(({ dataset, addIssue, NEVER }) => {
      try {
        return parse(dataset.value) ?? refuse(expected, dataset.value);
      } catch (error) {
        addIssue({ message: (error as Error).message });
        return NEVER;
      }
    }),
  );
}

/** Splits a text at commas. An empty text, such as that of an empty secret file, has no items. */
function itemsOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim());
}
