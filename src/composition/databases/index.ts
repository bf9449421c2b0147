import { api } from './api.ts';
import { SelectedDatabase } from './database.ts';
import type { Engine } from './engine.ts';
import { memory } from './memory.ts';
import { postgres } from './postgres.ts';
import { sqlite } from './sqlite.ts';

/** The kinds of databases that a server can use. Each has a storage adapter and a file in this folder. */
export const STORE_ENGINES: readonly Engine[] = [sqlite, memory, postgres];

/** A message to another thread, which selects a database there. */
export type DatabasePlace = Pick<SelectedDatabase, 'scheme' | 'location' | 'source'>;

export function databaseAt({ scheme, location, source }: DatabasePlace): SelectedDatabase {
  const engine = STORE_ENGINES.find(({ schemes }) => schemes.includes(scheme)) as Engine;
  return new SelectedDatabase(engine, scheme, location, source);
}

/** The kinds of databases that a command can use. */
export const ENGINES: readonly Engine[] = [...STORE_ENGINES, api];
