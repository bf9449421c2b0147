/**
 * The register of the supported databases. A new kind of database needs a storage adapter, a file in this folder, and
 * an entry in the array below.
 */

import { api } from './api.ts';
import { Database } from './database.ts';
import type { Engine } from './engine.ts';
import { memory } from './memory.ts';
import { postgres } from './postgres.ts';
import { sqlite } from './sqlite.ts';

/** Those that a server can use. */
export const STORE_ENGINES: readonly Engine[] = [sqlite, memory, postgres];

/** What selects a database, as a message to another thread. */
export type DatabasePlace = Pick<Database, 'scheme' | 'location' | 'source'>;

/** Returns the same database in another thread. */
export function databaseAt({ scheme, location, source }: DatabasePlace): Database {
  const engine = STORE_ENGINES.find(({ schemes }) => schemes.includes(scheme)) as Engine;
  return new Database(engine, scheme, location, source);
}

/** All of them, with the address of another server. */
export const ENGINES: readonly Engine[] = [...STORE_ENGINES, api];
