/** The SQLite driver, which must not be called where it would crash the process. */

import Database from 'better-sqlite3';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';

/** The oldest release of Node.js that does not crash in the driver. */
const NODE = [22, 12] as const;

/** Throws when the driver cannot work, for example because its binary is missing. */
export function openConnection(path: string, options?: Database.Options): Database.Database {
  assertRuntime(process.versions);
  try {
    return new Database(path, options);
  } catch (cause) {
    if (cause instanceof Database.SqliteError || cause instanceof TypeError) throw cause;
    const [reason] = (cause as Error).message.split('\n');
    const message = `the SQLite driver better-sqlite3 cannot be loaded: ${reason}: install it on this machine`;
    throw storageUnavailable(message, cause);
  }
}

export function assertRuntime({ node, bun, deno }: Readonly<NodeJS.Dict<string>>): void {
  const [major = 0, minor = 0] = (node ?? '').split('.').map(Number);
  if (bun !== undefined || deno !== undefined || major > NODE[0] || (major === NODE[0] && minor >= NODE[1]))
    return;
  throw storageUnavailable(`expected Node.js ${NODE.join('.')} or later, got ${node}`);
}
