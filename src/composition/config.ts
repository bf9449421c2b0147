import type { ServeValues } from '../adapters/cli/index.ts';
import type { HttpServerOptions } from '../adapters/http/api/index.ts';
import { IDEMPOTENCY_DAYS, IDEMPOTENCY_DAYS_MAX } from '../application/create-pet-once.ts';
import type { ClientOptions } from '../application/store-options.ts';
import * as formats from './config/formats.ts';
import { ConfigError, type Environment, Settings } from './config/settings.ts';
import { parseDatabase, SelectedDatabase } from './databases/database.ts';
import type { Engine } from './databases/engine.ts';
import { ENGINES, STORE_ENGINES } from './databases/index.ts';
import { sqlite } from './databases/sqlite.ts';

/** The configuration of a server. */
export interface Config {
  readonly host: string;
  readonly port: number;
  readonly database: SelectedDatabase;
  /** The number of threads that handle requests. */
  readonly workers: number;
  readonly apiKeys: readonly string[];
  readonly firstKey: formats.FirstKey;
  /** How long a create can be repeated with its idempotency key. */
  readonly idempotencyDays: number;
  readonly logLevel: formats.LogLevel;
  /** Of how many good requests one is logged. */
  readonly logSample: number;
  /** How long a stopping service waits for the requests in flight, in milliseconds. */
  readonly shutdownTimeout: number;
  readonly http: Pick<
    HttpServerOptions,
    'publicUrl' | 'corsOrigins' | 'trustedProxies' | 'rateLimit' | 'maxConnections'
  >;
}

export const DEFAULT_DATABASE: SelectedDatabase = new SelectedDatabase(
  sqlite,
  'sqlite',
  './data/animal-store.db',
  'the default store',
);
const MAX_PORT = 65_535;
const MAX_TIMEOUT = 2 ** 31 - 1;
const MAX_CONNECTIONS = 1_000_000;

/** Throws a `ConfigError` that names every invalid setting. */
export function loadConfig(environment: Environment, { host, port, databaseUrl }: ServeValues = {}): Config {
  const settings = new Settings(environment, { HOST: host, PORT: port, DATABASE_URL: databaseUrl });
  const config: Config = {
    host: settings.read('HOST', formats.HOST) ?? '127.0.0.1',
    port: settings.read('PORT', formats.integer(0, MAX_PORT)) ?? 3000,
    database: readDatabase(settings, STORE_ENGINES),
    workers: settings.read('WORKERS', formats.WORKERS) ?? 1,
    apiKeys: settings.readSecret('API_KEYS', formats.API_KEYS) ?? [],
    firstKey: settings.read('FIRST_KEY', formats.FIRST_KEY) ?? 'print',
    idempotencyDays:
      settings.read('IDEMPOTENCY_DAYS', formats.integer(1, IDEMPOTENCY_DAYS_MAX)) ?? IDEMPOTENCY_DAYS,
    logLevel: settings.read('LOG_LEVEL', formats.LOG_LEVEL) ?? 'info',
    logSample: settings.read('LOG_SAMPLE', formats.FRACTION) ?? 1,
    shutdownTimeout: settings.read('SHUTDOWN_TIMEOUT_MS', formats.integer(0, MAX_TIMEOUT)) ?? 10_000,
    http: {
      publicUrl: settings.read('PUBLIC_URL', formats.PUBLIC_URL),
      corsOrigins: settings.read('CORS_ORIGIN', formats.ORIGINS),
      trustedProxies: settings.read('TRUST_PROXY', formats.NETWORKS),
      rateLimit: settings.read('RATE_LIMIT', formats.RATE_LIMIT),
      maxConnections: settings.read('MAX_CONNECTIONS', formats.integer(1, MAX_CONNECTIONS)),
    },
  };
  if (config.workers > 1 && !config.database.isDurable) {
    settings.addFault(`WORKERS: expected 1 for ${config.database.scheme}:, got ${config.workers}`);
  }
  settings.throwFaults();
  return config;
}

/** Reads only the database URL. Throws a `ConfigError` if the URL is invalid. */
export function loadDatabase(environment: Environment, databaseUrl?: string): SelectedDatabase {
  const settings = new Settings(environment, { DATABASE_URL: databaseUrl });
  const database = readDatabase(settings, ENGINES);
  settings.throwFaults();
  return database;
}

/** Like `loadDatabase`, but refuses a database whose data would be lost when the command ends. */
export function loadDurableDatabase(environment: Environment, databaseUrl?: string): SelectedDatabase {
  const database = loadDatabase(environment, databaseUrl);
  if (database.isDurable) return database;
  const reason = 'is supported by serve and doctor only, because its data is lost when the command ends';
  throw new ConfigError(`${database.source}: ${database.scheme}: ${reason}`);
}

/** Reads `API_KEY` for the address of a server. Throws a `ConfigError` if the key is missing or invalid. */
export function loadClient(environment: Environment, database: SelectedDatabase): ClientOptions | undefined {
  if (!database.isRemote) return undefined;
  const settings = new Settings(environment, {});
  const apiKey = settings.readSecret('API_KEY', formats.API_KEY);
  settings.throwFaults();
  // A user of the command cannot replace a deprecated operation.
  if (apiKey !== undefined) return { apiKey, onDeprecation: () => {} };
  throw new ConfigError(
    'API_KEY: expected the API key for the server, in API_KEY or in the file API_KEY_FILE',
  );
}

function readDatabase(settings: Settings, engines: readonly Engine[]): SelectedDatabase {
  const parse = (url: string, source: string) => parseDatabase(engines, url, source);
  return settings.readSecret('DATABASE_URL', parse) ?? DEFAULT_DATABASE;
}
