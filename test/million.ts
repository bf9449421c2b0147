/**
 * Calls every storage, those that servers share through two clients, and examines that a million creates and reads fit one
 * order: `node test/million.ts [CALLS]`. It takes about ten minutes.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AnimalStore, createAnimalStore } from '../src/library/index.ts';
import { exercise, History } from '../src/testing/index.ts';
import { startPostgres } from './support/postgres/server.ts';

const CALLS = Number(process.argv[2] ?? 1_000_000);
/** At most this many in one history, which is held in memory. */
const CALLS_OF_HISTORY = Math.min(50_000, CALLS);
const CLIENTS = 4;

/** A function for each storage: it calls `examine` with the addresses through which clients use one new store. */
const STORES: readonly [string, (examine: (...addresses: string[]) => Promise<void>) => Promise<void>][] = [
  ['memory', (examine) => examine('memory:')],
  [
    'SQLite',
    async (examine) => {
      const folder = mkdtempSync(join(tmpdir(), 'animal-store-million-'));
      const address = `sqlite:${join(folder, 'pets.db')}`;
      await examine(address, address);
      rmSync(folder, { recursive: true });
    },
  ],
  [
    'PostgreSQL',
    async (examine) => {
      const server = await startPostgres();
      await examine(server.url, server.url);
      await server.close();
    },
  ],
];

let contradictions = 0;
for (const [name, withStore] of STORES) {
  let calls = 0;
  for (let seed = 1; calls < CALLS / STORES.length; seed += 1) {
    await withStore(async (...addresses) => {
      const clients: AnimalStore[] = [];
      for (const database of addresses) clients.push(await createAnimalStore({ database }));
      const history = new History();
      const each = Math.ceil(CALLS_OF_HISTORY / clients.length / CLIENTS);
      await exercise(history, clients, { calls: each, clients: CLIENTS, seed });
      const contradiction = history.contradiction();
      if (contradiction !== undefined) console.error(`${name}, seed ${seed}: ${contradiction}`);
      contradictions += contradiction === undefined ? 0 : 1;
      calls += history.size;
      await Promise.all(clients.map((client) => client.close()));
    });
  }
  console.log(`${name}: ${calls} calls`);
}
console.log(`${contradictions === 0 ? 1 : 0} passed, ${contradictions} failed`);
process.exitCode = contradictions === 0 ? 0 : 1;
