/**
 * The main module of a process that compares creates through the storage of animal-store with an `INSERT` of `pg`, one
 * after another. Arguments: the URL of the database, and the duration in seconds.
 */

import { Client } from 'pg';
import { openPostgresStorage } from '../../src/adapters/postgres/index.ts';
import type { Slice } from '../parts/postgres.ts';

const INSERT = 'INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id';

/** The number of creates in a row. The two ways take turns, so that other load on the machine affects both equally. */
const SLICE_SIZE = 50;

const [url = '', seconds] = process.argv.slice(2);
const client = new Client({ connectionString: url });
await client.connect();
const storage = await openPostgresStorage(url);

const create = () => storage.pets.add({ name: 'Bello', categoryId: 7n, status: 'available' });
const insert = () => client.query({ name: 'insert', text: INSERT, values: ['Bello', 7n, 'available'] });

async function timeOf(way: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  for (let count = 0; count < SLICE_SIZE; count++) await way();
  return (performance.now() - start) / SLICE_SIZE;
}

const slices: Slice[] = [];
await timeOf(create);
await timeOf(insert);
for (const end = performance.now() + Number(seconds) * 1000; performance.now() < end; ) {
  slices.push({ create: await timeOf(create), insert: await timeOf(insert) });
}
await storage.close();
await client.end();
console.log(JSON.stringify(slices));
