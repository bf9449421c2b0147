/** Preloaded into a server that is to believe that it does not run on Linux. */

import Database from 'better-sqlite3';

// The driver is loaded first, because it looks for the library of the platform.
new Database(':memory:').close();
Object.defineProperty(process, 'platform', { value: 'darwin' });
