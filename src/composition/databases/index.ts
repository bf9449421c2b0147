/**
 * The register of databases. A new database needs an adapter, a file in this folder, and an entry in the array below.
 */

import { memory } from './memory.ts';
import { DatabaseRegister } from './register.ts';
import { sqlite } from './sqlite.ts';

export const DATABASES: DatabaseRegister = new DatabaseRegister([sqlite, memory]);
