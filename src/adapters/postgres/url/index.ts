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
const URL_PARTS =
  /^postgres(?:ql)?:\/\/(?<login>[^/?#]*@)?(?<server>[^@/?#]*)(?:\/(?<database>[^@/?#]*))?(?:\?(?<query>[^@#]*))?$/;
const SERVER = /^(?<host>\[[\da-f:.]+\]|[\w.-]*|%2f[\w.%-]*)(?::(?<port>\d{1,5}))?$/i;
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
  const {
    login,
    server,
    database,
    query = '',
  } = (/[\s\p{Cc}]/u.test(url) ? null : URL_PARTS.exec(url))?.groups ?? {};
  if (server === undefined) throw badForm();
  const parameters = parametersOf(query);
  const read = (name: string): string | undefined => parameters.get(name) || undefined;
  if (server.includes(',') || read('host')?.includes(',')) {
    throw invalidRequest(
      'expected one host: several hosts are not supported, so give the address of the primary',
    );
  }
  const { host = '', port = '5432' } = SERVER.exec(server)?.groups ?? { host: '?' };
  const [, user, password] = /^([^:]*)(?::(.*))?@$/s.exec(login ?? '@') ?? [];
  const place = {
    host: read('host') ?? (decoded(host).replace(/^\[(.*)\]$/, '$1') || 'localhost'),
    port: Number(read('port') ?? port),
  };
  if (!HOST_NAME.test(place.host) || !(place.port >= 1 && place.port <= MAX_PORT)) throw badForm();
  const result = { ...place, password: read('password') ?? (decoded(password) || undefined) };
  const names = { user: read('user') ?? decoded(user), database: decoded(database) };
  refuseUnknown(parameters);
  const ownUser = names.user || userOfProcess();
  return {
    ...result,
    user: ownUser,
    database: names.database || ownUser,
    applicationName: read('application_name'),
    options: read('options'),
    tls: tlsOf(read),
    queryTimeout: integerOf(parameters, 'query_timeout', [0, MAX_TIMEOUT]) ?? QUERY_TIMEOUT,
    maxReads: integerOf(parameters, 'max', [1, READS_LIMIT]) ?? MAX_READS,
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

function parametersOf(query: string): ReadonlyMap<string, string> {
  const pairs = query === '' ? [] : query.split('&').map((pair) => pair.replaceAll('+', ' ').split('='));
  const parameters = new Map(pairs.map(([name, ...value]) => [decoded(name), decoded(value.join('='))]));
  if (parameters.size < pairs.length) throw invalidRequest('expected each parameter of the URL once');
  return parameters;
}

function decoded(text = ''): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw badForm();
  }
}

/**
 * The name of an unknown parameter is not shown, because a password without percent-encoding can contain it. An empty parameter
 * would have no effect: without a value of `sslmode`, there would be no TLS.
 */
function refuseUnknown(parameters: ReadonlyMap<string, string>): void {
  if ([...parameters.keys()].every((name) => PARAMETERS.includes(name))) {
    const empty = [...parameters].find(([, value]) => value === '')?.[0];
    if (empty === undefined) return;
    throw invalidRequest(`${empty}: expected a value, got an empty one`);
  }
  throw invalidRequest(
    `unknown parameter after '?': expected ${PARAMETERS.join(', ')}; percent-encode the password if it has a '?'`,
  );
}

function tlsOf(read: (name: string) => string | undefined): TlsFiles | undefined {
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

function integerOf(
  parameters: ReadonlyMap<string, string>,
  name: string,
  [min, max]: readonly [number, number],
): number | undefined {
  const text = parameters.get(name);
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
