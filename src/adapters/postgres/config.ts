/** The configuration of the driver. Of the environment it reads `PGOPTIONS` and `PGREPLICATION`, and no password file. */

import { readFileSync } from 'node:fs';
import { type ClientConfig, TypeOverrides, types } from 'pg';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { parsePostgresUrl } from './url/index.ts';

const parsers = new TypeOverrides();
parsers.setTypeParser(types.builtins.INT8, BigInt);

/** Has each value for which the driver would read a variable, and no URL, which the driver would prefer to these values. */
export function clientConfig(url: string): ClientConfig & { readonly max: number } {
  const { ssl, ...given } = parsePostgresUrl(url);
  const { rejectUnauthorized, ...files } = ssl || {};
  const texts = Object.entries(files).map(([name, path]) => [name, readFileSync(path, 'utf8')]);
  return {
    ...given,
    password: given.password ?? refusePassword,
    ssl: ssl && { rejectUnauthorized, ...Object.fromEntries(texts) },
    sslnegotiation: 'postgres',
    client_encoding: 'utf8',
    connectionTimeoutMillis: given.query_timeout || 1000,
    keepAlive: true,
    types: parsers,
  };
}

/** The driver calls this function if the server asks for a password. */
function refusePassword(): never {
  throw new StorageFault('unreachable', 'the database server asks for a password, and the URL has none');
}
