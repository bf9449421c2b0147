/** From the environment to one typed configuration, or to every fault in it at once. */

import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

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

const HOST_NAME = /^[\w.-]{1,253}$/;
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
    host: read('HOST', '127.0.0.1', parseHost),
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
    return mayHoldPassword(file)
      ? expected('the path of a file that can be read', file)
      : new Fault(`the file ${file} cannot be read`);
  }
}

function expected(what: string, text: string): Fault {
  return new Fault(`expected ${what}, got ${shown(text)}`);
}

function shown(text: string): string {
  return mayHoldPassword(text) ? 'a value that may hold a password' : `'${text}'`;
}

/** A password stands before `@`, which may have been encoded or be one of the characters that URLs take for it. */
function mayHoldPassword(text: string): boolean {
  return /@|%40/.test(text.normalize('NFKC'));
}

function parseHost(text: string): string | Fault {
  return isIP(text) !== 0 || HOST_NAME.test(text) ? text : expected('a host name or an IP address', text);
}

function parseInteger(text: string, min: number, max: number): number | Fault {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : expected(`an integer from ${min} to ${max}`, text);
}

/** A URL of another scheme may hold a password, so only its scheme is shown. */
function parseDatabaseUrl(text: string): DatabaseConfig | Fault {
  if (text === 'memory:') return { kind: 'memory' };
  const path = text.startsWith('sqlite:') ? text.slice('sqlite:'.length).trim() : '';
  if (path !== '' && path !== ':memory:') return { kind: 'sqlite', path };
  const given = path === ':memory:' ? text : `${text.split(':', 1)[0]}${text.includes(':') ? ':…' : ''}`;
  return new Fault(`${shown(given)} is given, sqlite:PATH or memory: is allowed`);
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
  return LOG_LEVELS.find((level) => level === text) ?? expected(`one of ${LOG_LEVELS.join(', ')}`, text);
}

/** The OpenAPI document publishes it, so it must not hold a password. */
function parsePublicUrl(text: string): string | undefined | Fault {
  if (text === '') return undefined;
  const url = webUrl(text);
  return url === undefined || `${url.username}${url.password}${url.search}${url.hash}` !== ''
    ? expected('an http or https URL without user name, password, query and fragment', text)
    : url.href.replace(/\/+$/, '');
}

/** A password may hold a comma, so a fault shows the wrong origin only where the whole list may be shown. */
function parseOrigins(text: string): readonly string[] | Fault {
  const origins = listOf(text);
  const bad = origins.find((origin) => webUrl(origin)?.origin !== origin);
  if (bad === undefined) return origins;
  return expected('origins such as https://example.org', mayHoldPassword(text) ? text : bad);
}

function webUrl(text: string): URL | undefined {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) ? url : undefined;
}

function listOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim());
}
