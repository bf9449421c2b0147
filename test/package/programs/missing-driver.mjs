// The driver is not installed: everything except SQLite works, and the error names the missing package.
import assert from 'node:assert/strict';
import { createAnimalStore } from 'animal-store';
import { createHttpApp } from 'animal-store/http';

const store = await createAnimalStore({ database: 'memory:' });
assert.equal(typeof createHttpApp(store).callback(), 'function');
await assert.rejects(createAnimalStore({ database: 'sqlite:./pets.db' }), {
  code: 'storage_unavailable',
  message: 'the package better-sqlite3 is not installed: npm install better-sqlite3',
});
console.log('done');
