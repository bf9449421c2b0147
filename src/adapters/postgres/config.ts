import { readFileSync } from 'node:fs';
import { Client, type ClientConfig, types } from 'pg';
import { StorageFault, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { parsePostgresUrl, QUERY_TIMEOUT, type TlsFiles } from './url/index.ts';

/** The type id of 64-bit integers. */
const INT8 = 20;

/** The deadline for what may take long: a statement of a transfer, of an examination, and of an update of the schema. */
export const LONG_TIMEOUT = 60_000;

/**
 * Has each value for which the driver would otherwise read a variable of the environment. The driver gets no URL: it would read
 * `sslmode` in its own way, and prefer the `query_timeout` of the URL to the deadline.
 */
export function clientConfig(url: string): ClientConfig & { readonly maxReads: number } {
  const { applicationName, tls, queryTimeout, ...given } = parsePostgresUrl(url);
  return {
    ...given,
    password: given.password ?? refusePassword,
    ssl: tls !== undefined && tlsOptions(tls),
    sslnegotiation: 'postgres',
    application_name: applicationName ?? 'animal-store',
    client_encoding: 'utf8',
    // Zero means no deadline for a query. A call must not wait forever for a connection.
    connectionTimeoutMillis: queryTimeout || QUERY_TIMEOUT,
    query_timeout: queryTimeout,
    keepAlive: true,
    types: {
      getTypeParser: (id: number, format?: 'text' | 'binary') =>
        id === INT8 ? BigInt : types.getTypeParser(id, format as 'text'),
    } as ClientConfig['types'],
  };
}

/** Without these two values, the driver reads `PGOPTIONS` and `PGREPLICATION`, and an empty value does not prevent it. */
export class ExplicitClient extends Client {
  declare readonly connectionParameters: { options?: string | undefined; replication?: string | undefined };

  constructor(config: ClientConfig = {}) {
    super(config);
    this.connectionParameters.options = config.options;
    this.connectionParameters.replication = undefined;
  }
}

/** The driver calls this function if the server asks for a password. */
function refusePassword(): never {
  throw new StorageFault('unreachable', 'the database server asks for a password, and the URL has none');
}

function tlsOptions({ isVerified, authority, certificate, key }: TlsFiles) {
  return {
    rejectUnauthorized: isVerified,
    ca: textOf('sslrootcert', authority),
    cert: textOf('sslcert', certificate),
    key: textOf('sslkey', key),
  };
}

function textOf(parameter: string, path: string | undefined): string | undefined {
  try {
    return path && readFileSync(path, 'utf8');
  } catch (error) {
    throw storageUnavailable(`${parameter}: the file ${path} cannot be read`, error, 'unreachable');
  }
}

/** Calls `use` with a connection whose statements may take long, and then disconnects. */
export async function withClient<T>(config: ClientConfig, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new ExplicitClient({ ...config, query_timeout: LONG_TIMEOUT });
  client.on('error', () => {});
  try {
    await client.connect();
    return await use(client);
  } finally {
    void client.end().catch(() => {});
  }
}
