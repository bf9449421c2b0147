// The driver is not installed: everything else works, and the error names the missing package.
import assert from 'node:assert/strict';
import { createAnimalStore } from 'animal-store';
import { createHttpApp } from 'animal-store/http';

const store = await createAnimalStore({ database: 'memory:' });
assert.equal(typeof createHttpApp(store).callback(), 'function');
await assert.rejects(createAnimalStore({ database: 'sqlite:./pets.db' }), {
  code: 'storage_unavailable',
  message: 'the package better-sqlite3 is not installed: npm install better-sqlite3',
});
await assert.rejects(createAnimalStore({ database: 'postgres://localhost/pets' }), {
  code: 'storage_unavailable',
  message: 'the package pg is not installed: npm install pg',
});
console.log('done');
