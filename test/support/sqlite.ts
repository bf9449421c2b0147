import Database from 'better-sqlite3';
import { onTestFinished } from 'vitest';

/** Opens a connection to a database file, as another program does. Closes it at the end of the test. */
export function connect(path: string): Database.Database {
  const db = new Database(path).defaultSafeIntegers(true);
  onTestFinished(() => void db.close());
  return db;
}
