/** The SQLite driver, which must not be called where it would crash the process. */

import Database from 'better-sqlite3';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';

/** The oldest release of Node.js that does not crash in the driver. */
const NODE = [22, 12] as const;

let isSound = false;

/** Opens a connection. Throws `storage_unavailable` when the driver cannot work, for example because its binary is missing. */
export function openConnection(path: string, options?: Database.Options): Database.Database {
  if (!isSound) assertDriver(process.versions);
  return new Database(path, options);
}

export function assertDriver({ node, bun, deno }: Readonly<NodeJS.Dict<string>>): void {
  const [major = 0, minor = 0] = (node ?? '').split('.').map(Number);
  const isNode = bun === undefined && deno === undefined;
  if (isNode && (major < NODE[0] || (major === NODE[0] && minor < NODE[1])))
    throw storageUnavailable(`expected Node.js ${NODE.join('.')} or later, got ${node}`);
  try {
    new Database(':memory:').close();
  } catch (cause) {
    const [reason] = (cause as Error).message.split('\n');
    const message = `the SQLite driver better-sqlite3 cannot be loaded: ${reason}: install it on this machine`;
    throw storageUnavailable(message, cause);
  }
  isSound = true;
}
