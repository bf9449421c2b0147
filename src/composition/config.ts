/** Reads the configuration from the environment, and reports every invalid setting. */

import { type BlockList, isIP } from 'node:net';
import type { RateLimit } from '../adapters/http/index.ts';
import { DATABASES } from './databases/index.ts';
import type { Database } from './databases/register.ts';
import { mayHoldPassword } from './databases/shown-value.ts';
import { parseRateLimit } from './rate-limit.ts';
import { type Environment, expected, Fault, listOf, type Parse, Settings } from './settings.ts';
import { parseTrustedProxies } from './trusted-proxies.ts';

export { ConfigError, type Environment } from './settings.ts';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** What happens to the first key of a store that has never had a key. */
export type FirstKey =
  | { readonly kind: 'print' }
  /** The key is written to the file at `path`, and not printed. */
  | { readonly kind: 'file'; readonly path: string }
  /** No key is created. */
  | { readonly kind: 'none' };

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly database: ConfiguredDatabase;
  readonly apiKeys: readonly string[];
  readonly firstKey: FirstKey;
  readonly logLevel: LogLevel;
  /** The base URL that clients use, without a slash at the end. Its path is the prefix of links. */
  readonly publicUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  /** The proxies whose `X-Forwarded-For` and `X-Forwarded-Proto` count. */
  readonly trustedProxies: BlockList | undefined;
  /** How long a stopping service waits for the requests in flight, in milliseconds. */
  readonly shutdownTimeout: number;
  /** Of how many good requests one is logged. */
  readonly logSample: number;
  /**
   * The maximum number of open connections. If `undefined`, the maximum is derived from the limit of file descriptors.
   */
  readonly maxConnections: number | undefined;
  /** The rate limit of each API key. If `undefined`, there is no limit. */
  readonly rateLimit: RateLimit | undefined;
}

/** A database, and the name of the setting that selected it. */
export interface ConfiguredDatabase extends Database {
  /** The name of the option or the variable in messages, or `the default store`. */
  readonly source: string;
}

/** The values of command line options, which have precedence over the environment. */
export interface OptionValues {
  readonly databaseUrl?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
}

const DEFAULT_DATABASE_URL = 'sqlite:./data/animal-store.db';
const OPTION = '--database-url';
const HOST_NAME = /^[\w.-]{1,253}$/;
const API_KEY = /^[\x21-\x2b\x2d-\x7e]{32,}$/;
const MAX_TIMEOUT = 2 ** 31 - 1;
const MAX_CONNECTIONS = 1_000_000;
const SAMPLE = /^1(?:\/([1-9]\d{0,5}))?$/;

/**
 * Reads the configuration of a server. Throws a `ConfigError` that names every invalid setting. The message names the
 * option instead of the variable when the option is given.
 */
export function loadConfig(environment: Environment, options: OptionValues = {}): Config {
  const settings = new Settings(environment);
  const config: Config = {
    host: settings.read('HOST', '127.0.0.1', parseHost, ['--host', options.host]),
    port: settings.read('PORT', '3000', parsePort, ['--port', options.port]),
    database: readDatabase(settings, environment, options.databaseUrl, parseDatabase),
    apiKeys: settings.readSecret('API_KEYS', '', parseApiKeys),
    firstKey: settings.read('FIRST_KEY', 'print', parseFirstKey),
    logLevel: settings.read('LOG_LEVEL', 'info', parseLogLevel),
    logSample: settings.read('LOG_SAMPLE', '1', parseSample),
    publicUrl: settings.read('PUBLIC_URL', '', parsePublicUrl),
    corsOrigins: settings.read('CORS_ORIGIN', '', parseOrigins),
    trustedProxies: settings.read('TRUST_PROXY', '', parseTrustedProxies),
    shutdownTimeout: settings.read('SHUTDOWN_TIMEOUT_MS', '10000', (text) =>
      parseInteger(text, 0, MAX_TIMEOUT),
    ),
    maxConnections: settings.read('MAX_CONNECTIONS', '', (text) =>
      text === '' ? undefined : parseInteger(text, 1, MAX_CONNECTIONS),
    ),
    rateLimit: settings.read('RATE_LIMIT', '', parseRateLimit),
  };
  settings.throwFaults();
  return config;
}

/**
 * Reads only the database URL, for a command other than `serve`. Other settings are not read. Throws a `ConfigError` if
 * the URL is invalid or the data would be lost when the command ends.
 *
 * @param databaseUrl the value of `--database-url`, which has precedence over the environment
 */
export function loadDurableDatabase(environment: Environment, databaseUrl?: string): ConfiguredDatabase {
  return loadDatabase(environment, databaseUrl, parseDurableDatabase);
}

/** Reads only the database URL, and accepts every database. */
export function loadAnyDatabase(environment: Environment, databaseUrl?: string): ConfiguredDatabase {
  return loadDatabase(environment, databaseUrl, parseDatabase);
}

function loadDatabase(
  environment: Environment,
  databaseUrl: string | undefined,
  parse: Parse<Database>,
): ConfiguredDatabase {
  const settings = new Settings(environment);
  const database = readDatabase(settings, environment, databaseUrl, parse);
  settings.throwFaults();
  return database;
}

function readDatabase(
  settings: Settings,
  environment: Environment,
  databaseUrl: string | undefined,
  parse: Parse<Database>,
): ConfiguredDatabase {
  const database = settings.readSecret('DATABASE_URL', DEFAULT_DATABASE_URL, parse, [OPTION, databaseUrl]);
  const variable = ['DATABASE_URL_FILE', 'DATABASE_URL'].find((name) => environment[name]);
  return { ...database, source: databaseUrl === undefined ? (variable ?? 'the default store') : OPTION };
}

function parseDatabase(url: string): Database | Fault {
  return DATABASES.parse(url) ?? new Fault(DATABASES.fault(url));
}

function parseDurableDatabase(url: string): Database | Fault {
  const database = parseDatabase(url);
  if (database instanceof Fault || DATABASES.isDurable(database)) return database;
  return new Fault(
    `${url} is supported by serve and doctor only, because its data is lost when the command ends`,
  );
}

function parseHost(text: string): string | Fault {
  return isIP(text) !== 0 || HOST_NAME.test(text) ? text : expected('a host name or an IP address', text);
}

function parseInteger(text: string, min: number, max: number): number | Fault {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : expected(`an integer from ${min} to ${max}`, text);
}

function parsePort(text: string): number | Fault {
  return parseInteger(text, 0, 65_535);
}

function parseFirstKey(text: string): FirstKey | Fault {
  const [, path] = /^file:(.+)$/.exec(text) ?? [];
  if (path !== undefined) return { kind: 'file', path };
  return text === 'print' || text === 'none' ? { kind: text } : expected('print, file:PATH or none', text);
}

function parseApiKeys(text: string): readonly string[] | Fault {
  const keys = listOf(text);
  const invalid = keys.findIndex((key) => !API_KEY.test(key));
  if (invalid === -1) return keys;
  return new Fault(
    `key ${invalid + 1} of ${keys.length} is invalid: expected 32 or more visible ASCII characters`,
  );
}

/** Parses a share of requests, and returns the number of requests of which one is logged. */
function parseSample(text: string): number | Fault {
  const match = SAMPLE.exec(text);
  return match === null
    ? expected('1 or a share from 1/1 to 1/999999, such as 1/100', text)
    : Number(match[1] ?? 1);
}

function parseLogLevel(text: string): LogLevel | Fault {
  return LOG_LEVELS.find((level) => level === text) ?? expected(`one of ${LOG_LEVELS.join(', ')}`, text);
}

/** Parses the public URL. A URL with a password is refused, because the OpenAPI document shows the public URL. */
function parsePublicUrl(text: string): string | undefined | Fault {
  if (text === '') return undefined;
  const url = webUrl(text);
  return url === undefined || `${url.username}${url.password}${url.search}${url.hash}` !== ''
    ? expected('an http or https URL without user name, password, query and fragment', text)
    : url.href.replace(/\/+$/, '');
}

/**
 * Parses a list of origins, separated by commas. The error message shows the first invalid origin. If the list may
 * contain a password, the message shows no origin: a password can contain a comma, and an item of the list can then be
 * a part of the password.
 */
function parseOrigins(text: string): readonly string[] | Fault {
  const origins = listOf(text);
  const invalid = origins.find((origin) => webUrl(origin)?.origin !== origin);
  if (invalid === undefined) return origins;
  return expected('origins such as https://example.org', mayHoldPassword(text) ? text : invalid);
}

function webUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}
