/**
 * Keeps an exact copy of all pets in a SQLite file: through changes, removals, its own restarts, and restores of the server. The
 * client of this package waits, retries, and requests the pages. It needs Node.js 22.13, for `node:sqlite`.
 *
 * The server needs EXPERIMENTAL=on. You can end the program at any time: later it continues where it was.
 *
 *     ANIMAL_STORE_URL=http://127.0.0.1:3000/v1 ANIMAL_STORE_KEY=pets_... node examples/follow/copy.js [FILE]
 */

import { DatabaseSync } from 'node:sqlite';
import { createAnimalStore, petJson } from 'animal-store';

const store = await createAnimalStore({
  database: process.env.ANIMAL_STORE_URL ?? 'http://127.0.0.1:3000/v1',
  apiKey: process.env.ANIMAL_STORE_KEY,
});

const copy = new DatabaseSync(process.argv[2] ?? 'copy.db');
// A crash of the machine can undo the last transactions, but it undoes the cursor with them.
copy.exec(`PRAGMA journal_mode = WAL;
  PRAGMA synchronous = NORMAL;
  CREATE TABLE IF NOT EXISTS pets (id INTEGER PRIMARY KEY, json TEXT NOT NULL);
  CREATE TABLE IF NOT EXISTS position (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), cursor TEXT NOT NULL)`);
const replacePet = copy.prepare('INSERT OR REPLACE INTO pets VALUES (?, ?)');
const removePet = copy.prepare('DELETE FROM pets WHERE id = ?');
const moveTo = copy.prepare('INSERT OR REPLACE INTO position VALUES (1, ?)');
const findPosition = copy.prepare('SELECT cursor FROM position');

for (;;) {
  try {
    for await (const { cursor, pet, removed } of store.followChanges({ after: findPosition.get()?.cursor })) {
      // The pet and the cursor in one transaction, so that a crash leaves both or neither.
      copy.exec('BEGIN');
      if (pet === undefined) removePet.run(removed);
      else replacePet.run(pet.id, petJson(pet));
      moveTo.run(cursor);
      copy.exec('COMMIT');
    }
  } catch (error) {
    if (error.code !== 'restart_required') throw error;
    // The server was restored, and may have forgotten pets that the copy has.
    console.error(error.message);
    copy.exec('BEGIN; DELETE FROM pets; DELETE FROM position; COMMIT');
  }
}
