import type { Storage } from '../../application/ports/storage.ts';
import { api } from './api.ts';
import type { Engine } from './engine.ts';
import { memory } from './memory.ts';
import { postgres } from './postgres.ts';
import { sqlite } from './sqlite.ts';

/** The kinds of databases that a server can use. Each has a file in this folder, and a storage adapter in `adapters/`. */
export const STORE_ENGINES: readonly Engine<Storage>[] = [sqlite, memory, postgres];

/** The kinds of databases that a command can use. */
export const ENGINES: readonly Engine[] = [...STORE_ENGINES, api];
