/** Makes the configuration of the driver from the URL of the database. */

import { readFileSync } from 'node:fs';
import { type ClientConfig, TypeOverrides, types } from 'pg';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { parsePostgresUrl } from './url/index.ts';

const parsers = new TypeOverrides();
parsers.setTypeParser(types.builtins.INT8, BigInt);
const toDate = types.getTypeParser(types.builtins.TIMESTAMPTZ) as (text: string) => unknown;
/** Another program may have stored `infinity`, which is not a date. */
parsers.setTypeParser(types.builtins.TIMESTAMPTZ, (text) => {
  const date = toDate(text);
  return date instanceof Date ? date.toISOString() : text;
});

/**
 * Sets each value that the driver would otherwise read from an environment variable or a password file, except for `PGOPTIONS` and
 * `PGREPLICATION`. Does not give the URL itself to the driver, which would prefer the values in the URL to these values.
 * @param currentUrl returns the URL with the current password; called when the server asks a new connection for a password
 */
export function clientConfig(
  url: string,
  currentUrl: () => string = () => url,
): ClientConfig & { readonly max: number } {
  const { ssl, ...given } = parsePostgresUrl(url);
  const { rejectUnauthorized, ...files } = ssl || {};
  const currentPassword = () => {
    try {
      return parsePostgresUrl(currentUrl()).password;
    } catch (cause) {
      // Without this, an invalid database URL would be reported to the client as an invalid request.
      throw new StorageFault('unreachable', 'the current password of the database cannot be read', { cause });
    }
  };
  const texts = Object.entries(files).map(([name, path]) => [name, readFileSync(path, 'utf8')]);
  return {
    ...given,
    password: () => currentPassword() ?? refusePassword(),
    ssl: ssl && { rejectUnauthorized, ...Object.fromEntries(texts) },
    sslnegotiation: 'postgres',
    client_encoding: 'utf8',
    keepAlive: true,
    types: parsers,
  };
}

function refusePassword(): never {
  throw new StorageFault('unreachable', 'the database server asks for a password, and the URL has none');
}
