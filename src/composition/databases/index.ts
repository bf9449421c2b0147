/**
 * The register of the supported databases. A new kind of database needs a storage adapter, a file in this folder, and
 * an entry in the array below.
 */

import { memory } from './memory.ts';
import { postgres, postgresql } from './postgres.ts';
import { DatabaseRegister } from './register.ts';
import { sqlite } from './sqlite.ts';

export const DATABASES: DatabaseRegister = new DatabaseRegister([sqlite, memory, postgres, postgresql]);
