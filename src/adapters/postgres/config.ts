import { Client, type ClientConfig, types } from 'pg';
import { AnimalStoreError } from '../../domain/errors.ts';

/** The type id of `int8`, the 64-bit integer, in the catalog `pg_type`. */
const INT8 = 20;

/**
 * The deadline for a query, for connecting and for waiting in a queue, in milliseconds, unless the URL has
 * `query_timeout`.
 */
const TIMEOUT = 1000;

/** The maximum number of connections for reads, unless the URL has `max`. */
const MAX_READS = 16;

/** The settings of a connection, and how many connections there are for reads at most. */
export interface Config extends ClientConfig {
  readonly maxReads: number;
}

/**
 * Returns the settings of a connection. The URL has the format of `pg`
 * (https://node-postgres.com/features/connecting), such as `postgres://user:password@host/database?sslmode=verify-full`.
 * Values of type `int8` are read as `bigint`.
 */
export function clientConfig(url: string): Config {
  const { rest, value: timeout = TIMEOUT } = takeNumber(url, 'query_timeout');
  const { rest: connectionString, value: maxReads = MAX_READS } = takeNumber(rest, 'max');
  return {
    connectionString,
    fallback_application_name: 'animal-store',
    // Zero means no deadline for a query. A call must not wait forever for a connection.
    connectionTimeoutMillis: timeout || TIMEOUT,
    query_timeout: timeout,
    keepAlive: true,
    types: {
      getTypeParser: (id: number, format?: 'text' | 'binary') =>
        id === INT8 ? BigInt : types.getTypeParser(id, format as 'text'),
    } as ClientConfig['types'],
    maxReads: Math.max(1, maxReads),
  };
}

/**
 * Removes a parameter from a URL, and returns the rest with the value of the parameter if it is a whole number. The driver
 * would prefer a value in the URL to any other one, also for operations that may take longer.
 */
function takeNumber(
  url: string,
  name: string,
): { readonly rest: string; readonly value: number | undefined } {
  const [base = '', ...query] = url.split('?');
  const others = query
    .join('?')
    .split('&')
    .filter((parameter) => !new URLSearchParams(parameter).has(name));
  const value = new URLSearchParams(query.join('?')).getAll(name).at(-1) ?? '';
  const rest = [base, others.join('&')].filter((part) => part !== '').join('?');
  return { rest, value: /^\d+$/.test(value) ? Number(value) : undefined };
}

/**
 * Returns the server and the database of a URL, without the user and the password, such as `localhost:5432/pets`. Throws
 * `storage_unavailable` when the driver refuses the URL, or cannot read a file of certificates that the URL names.
 */
export function locationOf(url: string): string {
  try {
    const { host, port, database } = new Client(clientConfig(url));
    return `${host}:${port}/${database}`;
  } catch (error) {
    const message = `the URL of the database is invalid: ${(error as Error).message}`;
    throw new AnimalStoreError('storage_unavailable', message, { cause: error });
  }
}
