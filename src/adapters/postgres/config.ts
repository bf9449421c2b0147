/** The configuration of the driver: no variable of the environment and no password file has an effect. */

import { readFileSync } from 'node:fs';
import { Client, type ClientConfig, types } from 'pg';
import { StorageFault, storageUnavailable } from '../../application/ports/storage-fault.ts';
import { parsePostgresUrl } from './url/index.ts';

/** The type id of 64-bit integers. */
const INT8 = 20;

/** Has each value for which the driver would read a variable, and no URL, which the driver would prefer to these values. */
export function clientConfig(url: string): ClientConfig & { readonly max: number } {
  const { ssl, ...given } = parsePostgresUrl(url);
  const { rejectUnauthorized, ...files } = ssl || {};
  const texts = Object.entries(files).map(([name, path]) => [name, readText(path)]);
  return {
    ...given,
    password: given.password ?? refusePassword,
    ssl: ssl && { rejectUnauthorized, ...Object.fromEntries(texts) },
    sslnegotiation: 'postgres',
    client_encoding: 'utf8',
    // A call must not wait forever for a connection.
    connectionTimeoutMillis: given.query_timeout || 1000,
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

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw storageUnavailable(`the file ${path} of the URL cannot be read`, error, 'unreachable');
  }
}
