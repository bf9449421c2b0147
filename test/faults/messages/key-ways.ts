/** Ways to send an API key, or a text that looks like one. */

import { createHash } from 'node:crypto';
import { utf8 } from './request.ts';

export interface KeyWay {
  readonly name: string;
  /** Whether the key is valid when it is sent in this way; `undefined` when the standards leave it open. */
  readonly isGood: boolean | undefined;
  readonly fields: (key: string) => readonly string[];
  /** Puts the key into the target. */
  readonly target?: (target: string, key: string) => string;
}

const authorization = (
  isGood: boolean | undefined,
  name: string,
  value: (key: string) => string,
): KeyWay => ({
  name,
  isGood,
  fields: (key) => [`Authorization: ${value(key)}`],
});
const elsewhere = (name: string, ...lines: readonly ((key: string) => string)[]): KeyWay => ({
  name,
  isGood: false,
  fields: (key) => lines.map((line) => line(key)),
});
const lines = (
  isGood: boolean | undefined,
  name: string,
  ...text: readonly ((key: string) => string)[]
): KeyWay => ({
  ...elsewhere(name, ...text),
  isGood,
});
const inTarget = (name: string, target: (target: string, key: string) => string): KeyWay => ({
  name,
  isGood: false,
  fields: () => [],
  target,
});
const query = (name: string): KeyWay =>
  inTarget(
    `?${name}=`,
    (target, key) => `${target}${target.includes('?') ? '&' : '?'}${name}=${encodeURIComponent(key)}`,
  );

const base64 = (text: string) => Buffer.from(text, 'latin1').toString('base64');
const sha256 = (text: string) => createHash('sha256').update(text);

/** The name of a header field is case-insensitive, as is the scheme (RFC 9110, sections 5.1 and 11.1). */
const GOOD_WAYS: readonly KeyWay[] = [
  authorization(true, 'Bearer', (key) => `Bearer ${key}`),
  authorization(true, 'bearer', (key) => `bearer ${key}`),
  authorization(true, 'BEARER', (key) => `BEARER ${key}`),
  authorization(true, 'bEaReR', (key) => `bEaReR ${key}`),
  authorization(true, 'space before the scheme', (key) => `    Bearer ${key}`),
  authorization(true, 'tab before the scheme', (key) => `\tBearer ${key}`),
  authorization(true, 'spaces after the key', (key) => `Bearer ${key} \t `),
  authorization(undefined, 'several spaces', (key) => `Bearer   ${key}`),
  lines(true, 'authorization in lower case', (key) => `authorization: Bearer ${key}`),
  lines(true, 'AUTHORIZATION in upper case', (key) => `AUTHORIZATION: Bearer ${key}`),
  lines(true, 'no space after the colon', (key) => `Authorization:Bearer ${key}`),
  lines(
    true,
    'behind a long field',
    () => `X: ${'x'.repeat(8000)}`,
    (key) => `Authorization: Bearer ${key}`,
  ),
  lines(
    true,
    'among many fields',
    ...Array.from({ length: 99 }, (_, i) => () => `X${i}: y`),
    (key) => `Authorization: Bearer ${key}`,
  ),
  lines(undefined, 'folded', (key) => `Authorization: Bearer\r\n ${key}`),
  lines(
    undefined,
    'named by Connection',
    () => 'Connection: Authorization',
    (key) => `Authorization: Bearer ${key}`,
  ),
];

const BAD_VALUES: readonly KeyWay[] = [
  authorization(false, 'no value', () => ''),
  authorization(false, 'Bearer alone', () => 'Bearer'),
  authorization(false, 'Bearer and a space', () => 'Bearer '),
  authorization(false, 'key alone', (key) => key),
  authorization(false, 'Basic, key as it is', (key) => `Basic ${key}`),
  authorization(false, 'Basic, key as password', (key) => `Basic ${base64(`x:${key}`)}`),
  authorization(false, 'Basic, key as user', (key) => `Basic ${base64(`${key}:`)}`),
  authorization(false, 'Digest', (key) => `Digest username="${key}"`),
  authorization(false, 'Token', (key) => `Token ${key}`),
  authorization(false, 'ApiKey', (key) => `ApiKey ${key}`),
  authorization(false, 'Negotiate', (key) => `Negotiate ${key}`),
  authorization(false, 'Bearers', (key) => `Bearers ${key}`),
  authorization(false, 'two schemes', (key) => `Bearer Bearer ${key}`),
  authorization(false, 'Bearer:', (key) => `Bearer:${key}`),
  authorization(false, 'Bearer: and a space', (key) => `Bearer: ${key}`),
  authorization(false, 'Bearer=', (key) => `Bearer=${key}`),
  authorization(false, 'Bearer,', (key) => `Bearer, ${key}`),
  authorization(false, 'nothing between', (key) => `Bearer${key}`),
  authorization(false, 'tab between', (key) => `Bearer\t${key}`),
  authorization(false, 'no-break space between', (key) => `Bearer\xa0${key}`),
  authorization(false, 'double quotes', (key) => `Bearer "${key}"`),
  authorization(false, 'single quotes', (key) => `Bearer '${key}'`),
  authorization(false, 'angle brackets', (key) => `Bearer <${key}>`),
  authorization(false, 'parameter', (key) => `Bearer token="${key}"`),
  authorization(false, 'comma behind', (key) => `Bearer ${key},`),
  authorization(false, 'semicolon behind', (key) => `Bearer ${key};`),
  authorization(false, 'padding behind', (key) => `Bearer ${key}=`),
  authorization(false, 'key twice', (key) => `Bearer ${key} ${key}`),
  authorization(false, 'list', (key) => `Bearer ${key}, Bearer ${key}`),
  authorization(false, 'list, another scheme first', (key) => `Basic x, Bearer ${key}`),
  authorization(false, 'key doubled', (key) => `Bearer ${key}${key}`),
  authorization(false, 'one character less', (key) => `Bearer ${key.slice(0, -1)}`),
  authorization(false, 'first character less', (key) => `Bearer ${key.slice(1)}`),
  authorization(false, 'one character more', (key) => `Bearer ${key}0`),
  authorization(
    false,
    'last character changed',
    (key) => `Bearer ${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`,
  ),
  authorization(false, 'first character changed', (key) => `Bearer ~${key.slice(1)}`),
  authorization(false, 'middle character changed', (key) => `Bearer ${key.slice(0, 25)}~${key.slice(26)}`),
  authorization(false, 'half', (key) => `Bearer ${key.slice(0, 27)}`),
  authorization(false, 'prefix', (key) => `Bearer ${key.slice(0, 9)}`),
  authorization(false, 'prefix and a pattern', (key) => `Bearer ${key.slice(0, 9)}%`),
  authorization(false, 'upper case', (key) => `Bearer ${key.toUpperCase()}`),
  authorization(false, 'lower case', (key) => `Bearer ${key.toLowerCase()}`),
  authorization(false, 'backwards', (key) => `Bearer ${[...key].reverse().join('')}`),
  authorization(false, 'base64', (key) => `Bearer ${base64(key)}`),
  authorization(false, 'hexadecimal', (key) => `Bearer ${Buffer.from(key).toString('hex')}`),
  authorization(false, 'its SHA-256 in hexadecimal', (key) => `Bearer ${sha256(key).digest('hex')}`),
  authorization(false, 'its SHA-256 in base64', (key) => `Bearer ${sha256(key).digest('base64url')}`),
  authorization(
    false,
    'percent-encoded',
    (key) => `Bearer %${key.charCodeAt(0).toString(16)}${key.slice(1)}`,
  ),
  authorization(
    false,
    'escaped as in JSON',
    (key) => `Bearer \\u00${key.charCodeAt(0).toString(16)}${key.slice(1)}`,
  ),
  authorization(false, 'Cyrillic letter', (key) => utf8(`Bearer ${key.replace(/[acep]/, '\u0430')}\u0430`)),
  authorization(false, 'full-width letters', (key) => utf8(`Bearer ${key.replace(/^./, '\uff50')}`)),
  authorization(false, 'zero-width space', (key) => utf8(`Bearer \u200b${key}`)),
  authorization(false, 'byte order mark', (key) => utf8(`Bearer \ufeff${key}`)),
  authorization(false, 'no-break space behind', (key) => `Bearer ${key}\xa0`),
  authorization(false, 'U+0000 behind', (key) => `Bearer ${key}\0`),
  authorization(false, 'U+007F behind', (key) => `Bearer ${key}\x7f`),
  authorization(false, 'escape sequence', (key) => `Bearer \x1b[1m${key}`),
  authorization(false, 'null', () => 'Bearer null'),
  authorization(false, 'undefined', () => 'Bearer undefined'),
  authorization(false, 'true', () => 'Bearer true'),
  authorization(false, 'star', () => 'Bearer *'),
  authorization(false, '__proto__', () => 'Bearer __proto__'),
  authorization(false, 'constructor', () => 'Bearer constructor'),
  authorization(false, 'SQL', () => "Bearer ' OR '1'='1"),
  authorization(false, 'SQL without spaces', () => "Bearer '/**/OR/**/1=1--"),
  authorization(false, "the key's id", () => 'Bearer env-1'),
  authorization(false, 'ten thousand characters', () => `Bearer ${'k'.repeat(10_000)}`),
  authorization(false, 'good prefix, endless', (key) => `Bearer ${key}${'0'.repeat(10_000)}`),
];

const bearer = (key: string) => `Authorization: Bearer ${key}`;

const OTHER_PLACES: readonly KeyWay[] = [
  elsewhere('no key at all'),
  elsewhere('valid key twice', bearer, bearer),
  elsewhere('valid key, then an invalid one', bearer, () => 'Authorization: Bearer x'),
  elsewhere('invalid key, then a valid one', () => 'Authorization: Bearer x', bearer),
  elsewhere('valid key, then none', bearer, () => 'Authorization:'),
  elsewhere('valid key, then Basic', bearer, () => 'authorization: Basic eDp5'),
  elsewhere('Proxy-Authorization', (key) => `Proxy-Authorization: Bearer ${key}`),
  elsewhere('X-Api-Key', (key) => `X-Api-Key: ${key}`),
  elsewhere('Api-Key', (key) => `Api-Key: ${key}`),
  elsewhere('X-Auth-Token', (key) => `X-Auth-Token: ${key}`),
  elsewhere('X-Authorization', (key) => `X-Authorization: Bearer ${key}`),
  elsewhere('X-Original-Authorization', (key) => `X-Original-Authorization: Bearer ${key}`),
  elsewhere('X-Forwarded-Authorization', (key) => `X-Forwarded-Authorization: Bearer ${key}`),
  elsewhere('Authorization_', (key) => `Authorization_: Bearer ${key}`),
  elsewhere('Authorisation', (key) => `Authorisation: Bearer ${key}`),
  elsewhere('WWW-Authenticate', (key) => `WWW-Authenticate: Bearer ${key}`),
  elsewhere('Cookie', (key) => `Cookie: Authorization=Bearer ${key}; access_token=${key}`),
  elsewhere('Sec-WebSocket-Protocol', (key) => `Sec-WebSocket-Protocol: bearer, ${key}`),
  elsewhere('Referer', (key) => `Referer: http://x/?access_token=${key}`),
  elsewhere('From', (key) => `From: ${key}`),
  elsewhere('User-Agent', (key) => `User-Agent: Bearer ${key}`),
  elsewhere('Expect', (key) => `Expect: ${key}`),
  elsewhere('Content-Type', (key) => `Content-Type: application/json; charset=${key}`),
  elsewhere('Host', (key) => `Host: ${key}`),
  elsewhere('If-None-Match', (key) => `If-None-Match: "${key}"`),
  elsewhere('Transfer-Encoding', (key) => `Transfer-Encoding: ${key}`),
  elsewhere('Content-Length', (key) => `Content-Length: ${key}`),
  elsewhere('name of a field', (key) => `${key.replaceAll(/[^\w-]/g, '_')}: x`),
  elsewhere('space before the colon', (key) => `Authorization : Bearer ${key}`),
  elsewhere('folded into another field', (key) => `X: y\r\n Authorization: Bearer ${key}`),
  elsewhere('behind a bare CR', (key) => `X: y\rAuthorization: Bearer ${key}`),
  elsewhere('behind U+0000', (key) => `X: y\0Authorization: Bearer ${key}`),
  query('access_token'),
  query('api_key'),
  query('key'),
  query('Authorization'),
  query('limit'),
  query('status'),
  query('after'),
  inTarget('last segment of the path', (target, key) => `${target}/${encodeURIComponent(key)}`),
  inTarget('parameter of the path', (target, key) => `${target};key=${encodeURIComponent(key)}`),
  inTarget('fragment', (target, key) => `${target}#access_token=${encodeURIComponent(key)}`),
  inTarget('user of the URL', (target, key) => `http://${encodeURIComponent(key)}@127.0.0.1${target}`),
  inTarget('password of the URL', (target, key) => `http://x:${encodeURIComponent(key)}@127.0.0.1${target}`),
];

export const KEY_WAYS: readonly KeyWay[] = [...GOOD_WAYS, ...BAD_VALUES, ...OTHER_PLACES];
