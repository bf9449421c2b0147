/** Reads the URL of a database in PostgreSQL. Needs no driver, and no message shows a part of an invalid URL. */

import { userInfo } from 'node:os';
import { invalidRequest } from '../../../domain/errors.ts';

export interface PostgresUrl {
  /** A host name, an IP address, or the folder of a Unix domain socket. */
  readonly host: string;
  readonly port: number;
  /** By default, the user of this process, as for PostgreSQL's own programs. */
  readonly user: string;
  readonly password: string | undefined;
  /** By default, the database with the name of the user. */
  readonly database: string;
  readonly applicationName: string | undefined;
  /** The options of the session, such as `-c search_path=pets`. */
  readonly options: string | undefined;
  readonly tls: TlsFiles | undefined;
  /** The deadline for a query, in milliseconds. Zero means none. */
  readonly queryTimeout: number;
  /** The maximum number of connections for reads. */
  readonly maxReads: number;
}

export interface TlsFiles {
  /** Whether the certificate and the host name of the server are verified. */
  readonly isVerified: boolean;
  readonly authority: string | undefined;
  readonly certificate: string | undefined;
  readonly key: string | undefined;
}

const FORM = 'postgres://USER:PASSWORD@HOST:PORT/DATABASE';

/** The user ends at the last `@` of the authority. A later `@` or a `#` can be a part of a password, so it must be encoded. */
const URL_PARTS = new RegExp(
  [
    '^postgres(?:ql)?://(?:(?<user>[^:/?#]*)(?::(?<password>[^/?#]*))?@)?',
    String.raw`(?<host>\[[\da-fA-F:.]+\]|[\w.-]*|%2[fF][\w.%-]*)(?::(?<port>\d{1,5}))?(?<otherHosts>,[^@/?#]*)?`,
    String.raw`(?:/(?<database>[^@/?#]*))?(?:\?(?<query>[^@#]*))?$`,
  ].join(''),
);
const HOST_NAME = /^(?:[\da-f:.]+|[\w.-]+|\/.*)$/i;

const PARAMETERS: readonly string[] = [
  ...['host', 'port', 'user', 'password', 'sslmode', 'sslrootcert', 'sslcert', 'sslkey'],
  ...['query_timeout', 'max', 'application_name', 'options'],
];

const MODES: readonly string[] = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** The deadline for a query, for connecting and for waiting in a queue, in milliseconds. */
export const QUERY_TIMEOUT = 1000;

/** The maximum number of connections for reads. */
export const MAX_READS = 16;

const MAX_PORT = 65_535;
const MAX_TIMEOUT = 2 ** 31 - 1;
const READS_LIMIT = 1000;

/** Throws `invalid_request`. */
export function parsePostgresUrl(url: string): PostgresUrl {
  const parts = /[\s\p{Cc}]/u.test(url) ? undefined : URL_PARTS.exec(url)?.groups;
  if (parts === undefined) throw badForm();
  const parameters = parametersOf(parts['query']);
  const read: Read = (name) => parameters.get(name);
  if (parts['otherHosts'] !== undefined || read('host')?.includes(',')) {
    throw invalidRequest(
      'expected one host: several hosts are not supported, so give the address of the primary',
    );
  }
  const host = read('host') ?? (decoded(parts['host']).replace(/^\[(.*)\]$/, '$1') || 'localhost');
  const port = Number(read('port') ?? parts['port'] ?? '5432');
  if (!HOST_NAME.test(host) || !(port >= 1 && port <= MAX_PORT)) throw badForm();
  const password = read('password') ?? (decoded(parts['password']) || undefined);
  const database = decoded(parts['database']);
  const user = read('user') ?? (decoded(parts['user']) || userOfProcess());
  return {
    host,
    port,
    user,
    password,
    database: database || user,
    applicationName: read('application_name'),
    options: read('options'),
    tls: tlsOf(read),
    queryTimeout: integerOf('query_timeout', read, 0, MAX_TIMEOUT) ?? QUERY_TIMEOUT,
    maxReads: integerOf('max', read, 1, READS_LIMIT) ?? MAX_READS,
  };
}

/** Returns the server and the database of a URL, such as `localhost:5432/pets`. */
export function locationOf(url: string): string {
  const { host, port, database } = parsePostgresUrl(url);
  return `${host}:${port}/${database}`;
}

/** The operating system is asked, because the environment is not read. It can have no name for the id of a user. */
function userOfProcess(): string {
  try {
    return userInfo().username;
  } catch {
    throw invalidRequest(`expected ${FORM} with a user, because the user of this process has no name`);
  }
}

/**
 * The name of an unknown parameter is not shown, because a password without percent-encoding can contain it. An empty parameter
 * would have no effect: without a value of `sslmode`, there would be no TLS.
 */
function parametersOf(query = ''): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const pair of query === '' ? [] : query.split('&')) {
    const [name = '', ...values] = pair.replaceAll('+', ' ').split('=').map(decoded);
    const value = values.join('=');
    if (!PARAMETERS.includes(name)) {
      throw invalidRequest(
        `unknown parameter after '?': expected ${PARAMETERS.join(', ')}; percent-encode the password if it has a '?'`,
      );
    }
    if (parameters.has(name)) throw invalidRequest('expected each parameter of the URL once');
    if (value === '') throw invalidRequest(`${name}: expected a value, got an empty one`);
    parameters.set(name, value);
  }
  return parameters;
}

function decoded(text = ''): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badForm();
  }
}

type Read = (name: string) => string | undefined;

function tlsOf(read: Read): TlsFiles | undefined {
  const [authority, certificate, key] = [read('sslrootcert'), read('sslcert'), read('sslkey')];
  const hasFiles = [authority, certificate, key].some((file) => file !== undefined);
  const mode = read('sslmode') ?? (hasFiles ? 'verify-full' : 'disable');
  if (!MODES.includes(mode)) throw invalidRequest(`sslmode: expected one of ${MODES.join(', ')}`);
  if ((certificate === undefined) !== (key === undefined)) {
    throw invalidRequest('sslcert and sslkey: expected both or neither');
  }
  const isVerified = mode !== 'no-verify';
  if (mode === 'disable' ? hasFiles : !isVerified && authority !== undefined) {
    throw invalidRequest(`sslmode: expected verify-full with the files of certificates, got ${mode}`);
  }
  return mode === 'disable' ? undefined : { isVerified, authority, certificate, key };
}

function integerOf(name: string, read: Read, min: number, max: number): number | undefined {
  const text = read(name);
  if (text === undefined) return undefined;
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidRequest(`${name}: expected an integer from ${min} to ${max}`);
}

function badForm(): Error {
  return invalidRequest(
    `expected ${FORM}: percent-encode the password, and other parts with special characters such as / ? # @ or %`,
  );
}
