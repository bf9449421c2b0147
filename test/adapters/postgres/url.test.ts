/** The URL of a database: what is read, what is refused, and that no message shows a part of a broken one. */

import { userInfo } from 'node:os';
import { describe, expect, test } from 'vitest';
import { clientConfig } from '../../../src/adapters/postgres/config.ts';
import { locationOf, parsePostgresUrl } from '../../../src/adapters/postgres/url/index.ts';
import { asAnimalStoreError } from '../../../src/domain/errors.ts';

function refusalOf(url: string): string {
  try {
    parsePostgresUrl(url);
  } catch (error) {
    expect(asAnimalStoreError(error)?.code).toBe('invalid_request');
    return (error as Error).message;
  }
  throw new Error('the URL was accepted');
}

const OWN_USER = userInfo().username;
const VERIFIED = { rejectUnauthorized: true };

test.each([
  ['postgres://me:a%2Fb%40c@db:5433/pets', { host: 'db', port: 5433, password: 'a/b@c', database: 'pets' }],
  ['postgresql://[::1]:1/a%2Fb', { host: '::1', port: 1, database: 'a/b' }],
  ['postgres://me@db/%3F%23%40%252F%C3%A4?max=2', { database: '?#@%2Fä' }],
  ['postgres://db', { user: OWN_USER, database: OWN_USER, password: undefined, port: 5432, ssl: false }],
  ['postgres:///pets?host=%2Ftmp&options=-c+a%3Db', { host: '/tmp', options: '-c a=b' }],
  ['postgres://db?user=me&password=a%3Db&port=7', { user: 'me', password: 'a=b', port: 7, database: 'me' }],
  ['postgres://db/p?query_timeout=1&max=1000', { query_timeout: 1, max: 1000 }],
  ['postgres://db/p?max=1', { max: 2 }],
  ['postgres://db/p?connect_timeout=10', { connectionTimeoutMillis: 10_000, query_timeout: 1000 }],
  ['postgres://db/p?connect_timeout=0&query_timeout=5000', { connectionTimeoutMillis: 5000 }],
  ['postgres://db/p', { query_timeout: 1000, max: 16, application_name: 'animal-store' }],
  ['postgres://db/p?sslmode=no-verify', { ssl: { rejectUnauthorized: false } }],
  ['postgres://db/p?sslrootcert=%2Fca', { ssl: { ...VERIFIED, ca: '/ca' } }],
  ['postgres://db/p?sslmode=verify-full&sslrootcert=system', { ssl: VERIFIED }],
  ['postgres://db/p?sslcert=%2Fc&sslkey=%2Fk', { ssl: { ...VERIFIED, cert: '/c', key: '/k' } }],
  ['postgres://db:65535/p', { port: 65_535 }],
  ...['sslmode=prefer', 'sslmode=require', 'sslmode=verify-ca', 'sslmode=verify-full', 'ssl=true'].map(
    (mode) => [`postgres://db/p?${mode}`, { ssl: VERIFIED }] as const,
  ),
  // URLs as cloud providers print them.
  [
    'postgresql://me:x@ep-cool-a1.eu.aws.neon.tech/db?sslmode=require&channel_binding=require',
    { ssl: VERIFIED, enableChannelBinding: true },
  ],
  [
    'postgres://me:x@db/p?sslmode=require&connect_timeout=10&target_session_attrs=read-write&keepalives_idle=30&gssencmode=disable&sslnegotiation=postgres&channel_binding=prefer',
    { ssl: VERIFIED, enableChannelBinding: false },
  ],
] as const)('%s is read', (url, parts) => {
  const found = parsePostgresUrl(url);
  expect(found).toMatchObject(parts);
  if ('ssl' in parts) expect(found.ssl).toEqual(parts.ssl);
});

/** A command shows nothing between `://` and the last at sign. */
test('the expected form has one at sign', () => {
  expect(refusalOf('postgres://a@b@c').split('@')).toHaveLength(2);
});

const FORM = 'expected postgres://USER:PASSWORD@HOST:PORT/DATABASE: percent-encode the password';
const UNKNOWN = "unknown parameter after '?': expected host, port, user, password, ";

test.each([
  ['postgres:pets', FORM],
  ...['port', 0, 65_536].map((port) => [`postgres://host:${port}/pets`, FORM]),
  ['postgres://me:p@ss@host/pets', FORM],
  ['postgres://one,two/pets', FORM],
  ['postgres:///pets?host=one,two', FORM],
  ['postgres://host/pets?sslmode=REQUIRE', 'sslmode: expected one of disable, no-verify'],
  ['postgres://host/pets?password', 'password: expected a value'],
  ['postgres://host/pets?query_timeout=5s', 'query_timeout: expected an integer from 1'],
  ['postgres://host/pets?query_timeout=0', 'query_timeout: expected an integer from 1'],
  ['postgres://host/pets?max=0', 'max: expected an integer from 1 to 1000'],
  ['postgres://host/pets?max=4&max=5', 'expected each parameter of the URL once'],
  ['postgres://host/pets?sslmode=disable&sslrootcert=x', 'sslmode: expected verify-full with the files'],
  ['postgres://host/pets?sslmode=no-verify&sslrootcert=x', 'with the files of certificates, got no-verify'],
  ['postgres://host/pets?sslcert=x', 'sslcert and sslkey: expected both or neither'],
  [
    'postgres://host/pets?uselibpqcompat=true&sslmode=require',
    'uselibpqcompat: not supported, because it weakens',
  ],
  ...['', '&sslmode=no-verify'].map((mode) => [
    `postgres://host/pets?channel_binding=require${mode}`,
    'channel_binding: expected sslmode=verify-full',
  ]),
  // If these were ignored, the connection would be weaker than the URL says.
  ...[
    'sslcrl=x',
    'require_auth=scram-sha-256',
    'gssencmode=require',
    'target_session_attrs=standby',
    '__proto__=x',
  ].map((pair) => [`postgres://host/pets?${pair}`, UNKNOWN]),
])('%s is refused', (url = '', reason) => {
  expect(refusalOf(url)).toContain(reason);
});

describe('the configuration of the driver', () => {
  test('has no URL, so that the driver prints no warning, and reads no password elsewhere', () => {
    const config = clientConfig('postgres://me@localhost/pets?sslmode=require&query_timeout=250');
    expect(config).toMatchObject({ ssl: VERIFIED, query_timeout: 250, connectionTimeoutMillis: 250 });
    expect(config.connectionString).toBeUndefined();
    expect(config.password).toThrow('the database server asks for a password, and the URL has none');
    const without = clientConfig('postgres://me@localhost/pets?connect_timeout=0');
    expect(without).toMatchObject({ ssl: false, query_timeout: 1000, connectionTimeoutMillis: 1000 });
  });

  test('a location has no password', () => {
    expect(locationOf('postgres://me:hunter2@db/pets')).toBe('db:5432/pets');
  });
});
