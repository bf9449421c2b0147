import { Client, type ClientConfig, types } from 'pg';
import { AnimalStoreError } from '../../domain/errors.ts';

/** The type id of 64-bit integers. */
const INT8 = 20;

/** The default deadline for a query, for connecting and for waiting in a queue, in milliseconds. */
const TIMEOUT = 1000;

/** The deadline for what may take long: a statement of a transfer, of an examination, and of an update of the schema. */
export const LONG_TIMEOUT = 60_000;

/** The default maximum number of connections for reads. */
const MAX_READS = 16;

/** These parameters of the URL. The last of equal ones counts. */
const OWN = /(?<=[?&])(query(?:_|%5[Ff])timeout|max)=([^&]*)&?/g;

/**
 * The driver does not get `query_timeout` and `max` of the URL, because it would prefer them to any other value, also for
 * operations that may take longer.
 */
export function clientConfig(url: string): ClientConfig & { readonly maxReads: number } {
  let timeout = TIMEOUT;
  let maxReads = MAX_READS;
  const connectionString = url.replace(OWN, (_, name: string, value: string) => {
    if (!/^\d+$/.test(value)) return '';
    if (name === 'max') maxReads = Math.max(1, Number(value));
    else timeout = Number(value);
    return '';
  });
  return {
    connectionString: connectionString.replace(/[?&]$/, ''),
    fallback_application_name: 'animal-store',
    // Zero means no deadline for a query. A call must not wait forever for a connection.
    connectionTimeoutMillis: timeout || TIMEOUT,
    query_timeout: timeout,
    keepAlive: true,
    types: {
      getTypeParser: (id: number, format?: 'text' | 'binary') =>
        id === INT8 ? BigInt : types.getTypeParser(id, format as 'text'),
    } as ClientConfig['types'],
    maxReads,
  };
}

/** Returns the server and the database of a URL, such as `localhost:5432/pets`. Throws when the driver refuses the URL. */
export function locationOf(url: string): string {
  try {
    const { host, port, database } = new Client(clientConfig(url));
    return `${host}:${port}/${database}`;
  } catch (error) {
    const message = `the URL of the database is invalid: ${(error as Error).message}`;
    throw new AnimalStoreError('storage_unavailable', message, { cause: error });
  }
}

/** Calls `use` with a connection whose statements may take long, and then disconnects. */
export async function withClient<T>(config: ClientConfig, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ ...config, query_timeout: LONG_TIMEOUT });
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    void client.end().catch(() => {});
  }
}
