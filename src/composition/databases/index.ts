/**
 * The register of the supported databases. A new kind of database needs a storage adapter, a file in this folder, and
 * an entry in the array below.
 */

import type { Engine } from './engine.ts';
import { memory } from './memory.ts';
import { postgres } from './postgres.ts';
import { sqlite } from './sqlite.ts';

export const ENGINES: readonly Engine[] = [sqlite, memory, postgres];
