/** From the environment to one typed configuration, or to every fault in it at once. */

import { readFileSync } from 'node:fs';

export const LOG_LEVELS = ['silent', 'error', 'warn', 'info', 'debug'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** Which storage adapter, and where its data is. */
export type DatabaseConfig = { readonly kind: 'sqlite'; readonly path: string } | { readonly kind: 'memory' };

export interface Config {
  readonly host: string;
  readonly port: number;
  readonly database: DatabaseConfig;
  readonly apiKeys: readonly string[];
  readonly logLevel: LogLevel;
  /** The address that clients use, without a slash at its end. */
  readonly publicUrl: string | undefined;
  readonly corsOrigins: readonly string[];
  readonly shutdownTimeout: number;
  /** `undefined` for as many as the file descriptors bear. */
  readonly maxConnections: number | undefined;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** Thrown with one line per fault. A line never shows a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const API_KEY = /^[\x21-\x2b\x2d-\x7e]{32,}$/;
const MAX_TIMEOUT = 2 ** 31 - 1;
const MAX_CONNECTIONS = 1_000_000;

/** Reads the variables. What is empty counts as not given. */
export function loadConfig(environment: Environment): Config {
  const faults: string[] = [];
  const read = <T>(name: string, fallback: string, parse: (text: string) => T | Fault): T => {
    const value = parse(environment[name] || fallback);
    if (value instanceof Fault) faults.push(`${name}: ${value.words}`);
    return value as T;
  };
  const secret = <T>(name: string, fallback: string, parse: (text: string) => T | Fault): T => {
    const file = environment[`${name}_FILE`];
    if (!file) return read(name, fallback, parse);
    const value = environment[name]
      ? new Fault(`given twice, here and by ${name}_FILE`)
      : readSecret(file, parse);
    if (value instanceof Fault) faults.push(`${name}_FILE: ${value.words}`);
    return value as T;
  };
  const config: Config = {
    host: read('HOST', '127.0.0.1', (text) => text),
    port: read('PORT', '3000', (text) => parseInteger(text, 0, 65_535)),
    database: secret('DATABASE_URL', 'sqlite:./data/animal-store.db', parseDatabaseUrl),
    apiKeys: secret('API_KEYS', '', parseApiKeys),
    logLevel: read('LOG_LEVEL', 'info', parseLogLevel),
    publicUrl: read('PUBLIC_URL', '', parsePublicUrl),
    corsOrigins: read('CORS_ORIGIN', '', parseOrigins),
    shutdownTimeout: read('SHUTDOWN_TIMEOUT_MS', '10000', (text) => parseInteger(text, 0, MAX_TIMEOUT)),
    maxConnections: read('MAX_CONNECTIONS', '', (text) =>
      text === '' ? undefined : parseInteger(text, 1, MAX_CONNECTIONS),
    ),
  };
  if (faults.length > 0) throw new ConfigError(faults.join('\n'));
  return config;
}

class Fault {
  readonly words: string;

  constructor(words: string) {
    this.words = words;
  }
}

function readSecret<T>(file: string, parse: (text: string) => T | Fault): T | Fault {
  try {
    return parse(readFileSync(file, 'utf8').trim());
  } catch {
    return new Fault(`the file ${file} cannot be read`);
  }
}

function parseInteger(text: string, min: number, max: number): number | Fault {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max
    ? value
    : new Fault(`'${text}' is given, an integer from ${min} to ${max} is allowed`);
}

/** A URL of another scheme may hold a password, so only its scheme is shown. */
function parseDatabaseUrl(text: string): DatabaseConfig | Fault {
  if (text === 'memory:') return { kind: 'memory' };
  const path = text.startsWith('sqlite:') ? text.slice('sqlite:'.length).trim() : '';
  if (path !== '' && path !== ':memory:') return { kind: 'sqlite', path };
  const given = path === ':memory:' ? text : `${text.split(':', 1)[0]}${text.includes(':') ? ':…' : ''}`;
  return new Fault(`'${given}' is given, sqlite:PATH or memory: is allowed`);
}

function parseApiKeys(text: string): readonly string[] | Fault {
  const keys = listOf(text);
  const bad = keys.findIndex((key) => !API_KEY.test(key));
  if (bad === -1) return keys;
  return new Fault(
    `key ${bad + 1} of ${keys.length} is too short or has other characters, 32 or more visible ASCII characters are allowed`,
  );
}

function parseLogLevel(text: string): LogLevel | Fault {
  return (
    LOG_LEVELS.find((level) => level === text) ??
    new Fault(`'${text}' is given, one of ${LOG_LEVELS.join(', ')} is allowed`)
  );
}

function parsePublicUrl(text: string): string | undefined | Fault {
  if (text === '') return undefined;
  const url = webUrl(text);
  return url === undefined || url.search !== '' || url.hash !== ''
    ? new Fault(`'${text}' is given, an http or https URL without query and fragment is allowed`)
    : url.href.replace(/\/+$/, '');
}

function parseOrigins(text: string): readonly string[] | Fault {
  const origins = listOf(text);
  const bad = origins.find((origin) => webUrl(origin)?.origin !== origin);
  return bad === undefined
    ? origins
    : new Fault(`'${bad}' is given, origins such as https://example.org are allowed`);
}

function webUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

function listOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim());
}
