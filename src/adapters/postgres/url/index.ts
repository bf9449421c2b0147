/** Parses the URL of a PostgreSQL database. Does not load the driver. Messages show no text that may be a part of a password. */

import { userInfo } from 'node:os';
import type { ClientConfig } from 'pg';
import { parse } from 'pg-connection-string';
import { invalidRequest } from '../../../domain/errors.ts';

/** The configuration of the driver. `ssl` contains the paths of certificate files, and times are in milliseconds. */
export interface PostgresUrl extends ClientConfig {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly password: string | undefined;
  readonly ssl: false | { rejectUnauthorized: boolean; ca?: string; cert?: string; key?: string };
  readonly query_timeout: number;
  readonly connectionTimeoutMillis: number;
  readonly max: number;
}

const FORM =
  'expected postgres://USER:PASSWORD@HOST:PORT/DATABASE: percent-encode the password, and other parts with special characters such as a slash, an at sign, ?, # or %';

/** An unencoded `@`, `/`, `#` or `?` in a password would move parts of it into the host, the path or the query. */
const URL_PARTS =
  /^postgres(?:ql)?:\/\/(?:[^:/?#@]*(?::[^/?#@]*)?@)?(?:\[[\da-f:.]+\]|[\w.-]*|%2f[\w.%-]*)(?::\d{1,5})?(?:\/([^/?#@]*))?(?:\?([^@#]*))?$/i;
const BROKEN = /[\s\p{Cc}]|%(?![\da-f]{2})/iu;
const HOST = /^(?:[\da-f:.]+|[\w.-]+|\/.*)$/i;

/** The values that these parameters accept. Other parameters accept any text that is not empty. */
const VALUES: Readonly<Record<string, readonly [pattern: RegExp, expected: string]>> = {
  sslmode: [
    /^(disable|no-verify|prefer|require|verify-ca|verify-full)$/,
    'one of disable, no-verify, prefer, require, verify-ca, verify-full',
  ],
  channel_binding: [/^require$/, 'one of disable, prefer, require'],
  query_timeout: [/^[1-9]\d{0,8}$/, 'an integer from 1 to 999999999'],
  connect_timeout: [/^\d{1,4}$/, 'an integer from 0 to 9999'],
  max: [/^([1-9]\d{0,2}|1000)$/, 'an integer from 1 to 1000'],
};
const PARAMETERS = [
  ...['host', 'port', 'user', 'password', 'application_name', 'options'],
  ...['sslrootcert', 'sslcert', 'sslkey', ...Object.keys(VALUES)],
];

/** The parameters of libpq that can be ignored without harm, some of them only with these values. */
const HARMLESS =
  /^(keepalives(_\w+)?|tcp_user_timeout|fallback_application_name|sslcompression|sslsni|load_balance_hosts)=|^(client_encoding=utf-?8|sslnegotiation=postgres|(gssencmode|channel_binding)=(disable|prefer)|target_session_attrs=(any|read-write|primary))$/i;

/** Throws `invalid_request`. */
export function parsePostgresUrl(url: string): PostgresUrl {
  const [isUrl, path = '', query] = (!BROKEN.test(url) && URL_PARTS.exec(url)) || [];
  if (isUrl === undefined) throw invalidRequest(FORM);
  const { host, port, user, password, options, ...given } = parametersOf(query);
  const ssl = tlsOf(given);
  const enableChannelBinding = given['channel_binding'] !== undefined;
  if (enableChannelBinding && !(ssl || { rejectUnauthorized: false }).rejectUnauthorized)
    throw invalidRequest('channel_binding: expected sslmode=verify-full with require');
  const queryTimeout = Number(given['query_timeout'] ?? 1000);
  return {
    ...partsOf(url, path, { host, port, user, password }),
    application_name: given['application_name'] ?? 'animal-store',
    ...{ options, ssl, enableChannelBinding },
    query_timeout: queryTimeout,
    // For libpq, 0 means no limit, but here each request needs a limit.
    connectionTimeoutMillis: 1000 * Number(given['connect_timeout'] ?? 0) || queryTimeout,
    // At least two connections, so that reads do not wait for a create that is being stored.
    max: Math.max(2, Number(given['max'] ?? 16)),
  };
}

/** Returns the server and the database of a URL as `HOST:PORT/DATABASE`. */
export function locationOf(url: string): string {
  const { host, port, database } = parsePostgresUrl(url);
  return `${host}:${port}/${database}`;
}

type Given = Readonly<Record<string, string | undefined>>;

/** Passes only `given` to the parser: other parameters would reach the driver, or make the parser read files or print warnings. */
function partsOf(url: string, path: string, given: Given) {
  const pairs = Object.entries(given).filter((pair): pair is [string, string] => pair[1] !== undefined);
  try {
    const parts = parse(`${url.split('?')[0]}?${new URLSearchParams(pairs)}`);
    const [host, port] = [parts.host || 'localhost', Number(parts.port || '5432')];
    if (!HOST.test(host) || !(port >= 1 && port <= 65_535)) throw invalidRequest(FORM);
    // The default user comes from the operating system, and not from the environment.
    const user = parts.user || userInfo().username;
    // `parse` would leave characters such as `%23` encoded.
    const database = decodeURIComponent(path) || user;
    return { host, port, user, password: parts.password || undefined, database };
  } catch {
    throw invalidRequest(FORM);
  }
}

/** Messages do not show the name of an unknown parameter: it may be a part of a password that is not percent-encoded. */
function parametersOf(query = ''): Given {
  const given: Record<string, string> = {};
  for (const pair of new URLSearchParams(query)) {
    const [name, value] = pair.join('=') === 'ssl=true' ? ['sslmode', 'require'] : pair;
    if (HARMLESS.test(`${name}=${value}`)) continue;
    if (name === 'uselibpqcompat')
      throw invalidRequest('uselibpqcompat: not supported, because it weakens TLS: use sslmode=verify-full');
    if (!PARAMETERS.includes(name))
      throw invalidRequest(
        `unknown parameter after '?': expected ${PARAMETERS.join(', ')}; percent-encode the password if it has a '?'`,
      );
    const [pattern, expected] = VALUES[name] ?? [/./, 'a value, got an empty one'];
    if (name in given) throw invalidRequest('expected each parameter of the URL once');
    if (!pattern.test(value)) throw invalidRequest(`${name}: expected ${expected}`);
    given[name] = value;
  }
  return given;
}

function tlsOf({ sslmode, sslrootcert: ca, sslcert: cert, sslkey: key }: Given): PostgresUrl['ssl'] {
  const mode = sslmode ?? (ca || cert || key ? 'verify-full' : 'disable');
  if (!cert !== !key) throw invalidRequest('sslcert and sslkey: expected both or neither');
  if (mode === 'disable' ? ca || cert : mode === 'no-verify' && ca)
    throw invalidRequest(`sslmode: expected verify-full with the files of certificates, got ${mode}`);
  // In libpq, `system` means the certificate authorities of the system. It is not a path.
  const files = { ...(ca && ca !== 'system' && { ca }), ...(cert && key && { cert, key }) };
  return mode !== 'disable' && { rejectUnauthorized: mode !== 'no-verify', ...files };
}
