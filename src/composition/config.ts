/** The settings of a server and of the commands. The error messages and the help come from the schema of the settings. */

import * as v from 'valibot';
import type { CliOptions, ServeValues } from '../adapters/cli/index.ts';
import type { HttpServerOptions } from '../adapters/http/portable.ts';
import { IDEMPOTENCY_DAYS, IDEMPOTENCY_DAYS_MAX } from '../application/create-pet.ts';
import type { Storage, StoreStorage } from '../application/ports/storage.ts';
import type { ClientOptions } from '../application/store-options.ts';
import * as formats from './config/formats.ts';
import { CLIENT_OPTIONS, experimentalOf, GONE, ON_OR_OFF } from './config/lifecycle.ts';
import {
  ConfigError,
  type Environment,
  misspellings,
  readSecret,
  readSettings,
  SECRETS,
  type Settings,
} from './config/settings.ts';
import { type Database, parseDatabase } from './databases/database.ts';
import type { Engine } from './databases/engine.ts';
import { ENGINES, STORE_ENGINES } from './databases/index.ts';
import { mayHoldPassword } from './databases/refuse.ts';

/** The configuration of a server. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly database: Database<Storage>;
  readonly apiKeys: readonly string[];
  readonly firstKey: 'print' | 'none' | 'unseen';
  /** For how many days a write can be retried with its idempotency key. */
  readonly idempotencyDays: number;
  readonly logLevel: 'silent' | 'error' | 'warn' | 'info' | 'debug';
  /** How long a stopping service waits for the requests in flight, in milliseconds. */
  readonly shutdownTimeout: number;
  /** Describes variables that look like misspelled settings. */
  readonly misspellings: readonly string[];
  readonly http: HttpServerOptions;
}

/** The name of the database in error messages when no setting selects a database. */
const DEFAULT_STORE = 'the default store';

function setting<T, const D extends string | undefined = undefined>(
  format: formats.Format<T>,
  meaning: string,
  fallback?: D,
) {
  return v.optional(v.pipe(format, v.description(meaning)), fallback as D);
}

const database = <S extends StoreStorage>(engines: readonly Engine<S>[]) =>
  setting(
    formats.format('a database URL', (text) => parseDatabase(engines, text)),
    'where the store is',
    'sqlite:./data/animal-store.db',
  );

const SETTINGS = v.object({
  HOST: setting(formats.HOST, 'the address to listen on', '127.0.0.1'),
  PORT: setting(formats.integer(0, 65_535), 'the port to listen on; 0 takes a free one', '3000'),
  DATABASE_URL: database(STORE_ENGINES),
  API_KEYS: setting(formats.API_KEYS, 'keys that are valid beside the stored ones'),
  LOG_LEVEL: setting(
    formats.oneOf('silent', 'error', 'warn', 'info', 'debug'),
    'the least important lines that are logged',
    'info',
  ),
  PUBLIC_URL: setting(formats.PUBLIC_URL, 'the address that clients use, behind a proxy'),
  CORS_ORIGIN: setting(
    formats.ORIGINS,
    'the origins from which browsers may call the API, such as https://example.org',
  ),
  SHUTDOWN_TIMEOUT_MS: setting(
    formats.integer(0, 2 ** 31 - 1),
    'how long a stop waits for requests',
    '10000',
  ),
  MAX_CONNECTIONS: setting(formats.integer(1, 1_000_000), 'connections beyond it are closed'),
  RATE_LIMIT: setting(formats.RATE_LIMIT, 'the limit of each API key on this server, such as 100/s'),
  TRUST_PROXY: setting(
    formats.integer(0, 100, 'the number of proxies in front of the server,'),
    'the number of proxies in front, whose X-Forwarded-For counts',
    '0',
  ),
  IDEMPOTENCY_DAYS: setting(
    formats.integer(1, IDEMPOTENCY_DAYS_MAX),
    'the days in which a write can be retried with its key; the same on all servers of a store',
    `${IDEMPOTENCY_DAYS}`,
  ),
  FIRST_KEY: setting(
    formats.oneOf('print', 'none'),
    'whether a store without keys gets a first key, printed once',
    'print',
  ),
  EXPERIMENTAL: setting(
    ON_OR_OFF,
    'whether the experimental operations are served: changes and removals of pets',
    'off',
  ),
});

/** Describes the variables of `serve`, for its help and for the manual. */
export function describeSettings(): CliOptions['settings'] {
  return Object.entries(SETTINGS.entries).map(([name, { wrapped, default: fallback }]) => ({
    name,
    fallback,
    meaning: v.getDescription(wrapped) ?? '',
  }));
}

/** Overrides `DATABASE_URL`, so that the other settings can be read even if that variable is invalid. */
export const ANY_STORE: ServeValues = { databaseUrl: 'memory:' };

/** Throws a `ConfigError` that names every invalid setting. */
export function loadConfig(environment: Environment, options: ServeValues = {}): Config {
  const { host: HOST, port: PORT, databaseUrl: DATABASE_URL } = options;
  const settings = readSettings(SETTINGS, environment, { HOST, PORT, DATABASE_URL }, { ...GONE });
  const { values } = settings;
  return {
    host: values.HOST,
    port: values.PORT,
    database: databaseOf(settings),
    apiKeys: values.API_KEYS ?? [],
    firstKey: options.isDiscarded && values.FIRST_KEY === 'print' ? 'unseen' : values.FIRST_KEY,
    idempotencyDays: values.IDEMPOTENCY_DAYS,
    logLevel: values.LOG_LEVEL,
    shutdownTimeout: values.SHUTDOWN_TIMEOUT_MS,
    misspellings: misspellings(environment, Object.keys(SETTINGS.entries)),
    http: {
      publicUrl: values.PUBLIC_URL,
      corsOrigins: values.CORS_ORIGIN,
      trustedProxies: values.TRUST_PROXY,
      rateLimit: values.RATE_LIMIT,
      maxConnections: values.MAX_CONNECTIONS,
      ...experimentalOf(values),
    },
  };
}

/** Reads only the database URL. Throws a `ConfigError` if the URL is invalid. */
export function loadDatabase(environment: Environment, databaseUrl?: string): Database {
  const schema = v.object({ DATABASE_URL: database(ENGINES) });
  return databaseOf(readSettings(schema, environment, { DATABASE_URL: databaseUrl }));
}

/** Like `loadDatabase`, but refuses a database whose data would be lost when the command ends. */
export function loadDurableDatabase(environment: Environment, databaseUrl?: string): Database {
  const database = loadDatabase(environment, databaseUrl);
  if (database.engine.isDurable) return database;
  const reason = 'is supported by serve and doctor only, because its data is lost when the command ends';
  throw new ConfigError(`${database.source}: ${database.scheme}: ${reason}`);
}

/** Reads `API_KEY` if the database URL is the address of a server. Throws a `ConfigError` if the key is missing or invalid. */
export function loadClient(environment: Environment, { engine }: Database): ClientOptions | undefined {
  if (!engine.isRemote) return undefined;
  const schema = v.object({ API_KEY: v.optional(formats.API_KEY) });
  const { API_KEY: apiKey } = readSettings(schema, environment).values;
  if (apiKey !== undefined) return { apiKey, ...CLIENT_OPTIONS };
  throw new ConfigError(
    'API_KEY: expected the API key for the server, in API_KEY or in the file API_KEY_FILE',
  );
}

/** Returns the server settings that the environment contains. Hides values that may contain a secret. */
export function shownSettings(environment: Environment): readonly { name: string; value: string }[] {
  return Object.keys(SETTINGS.entries).flatMap((name) => {
    const text = environment[name];
    const isSecret = SECRETS.includes(name) || (text !== undefined && mayHoldPassword(text));
    if (isSecret && environment[`${name}_FILE`]) return [{ name: `${name}_FILE`, value: '(not shown)' }];
    return text ? [{ name, value: isSecret ? '(not shown)' : text }] : [];
  });
}

function databaseOf<D extends Database>({ values, sources, files }: Settings<{ DATABASE_URL: D }>): D {
  const { DATABASE_URL: file } = files;
  return {
    ...values.DATABASE_URL,
    source: sources['DATABASE_URL'] ?? DEFAULT_STORE,
    ...(file !== undefined && { readUrl: () => readSecret(file) }),
  };
}
