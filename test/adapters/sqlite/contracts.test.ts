import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { afterAll } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { Opened } from '../../../src/testing/index.ts';
import { testContracts } from '../../support/contracts.ts';

const TABLES = ['pets', 'pet_revisions', 'api_keys', 'idempotency_records', 'sqlite_sequence'];

/** A storage that one case after the other uses, because starting a writer thread takes longer than most cases. */
interface Store {
  readonly path: string;
  readonly storage: Storage;
}

const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
const idle: Store[] = [];

afterAll(async () => {
  for (const { storage } of idle) await storage.close();
  rmSync(folder, { recursive: true });
});

/** Returns an empty store: an idle one that was emptied, or a new one. */
async function takeStore(): Promise<Store> {
  const store = idle.pop();
  if (store === undefined) {
    const path = join(folder, `${randomUUID()}.db`);
    return { path, storage: openSqliteStorage(path) };
  }
  const isOpen = await store.storage.check().then(
    () => true,
    () => false,
  );
  if (!isOpen) return takeStore();
  const db = new Database(store.path);
  for (const table of TABLES) db.exec(`DELETE FROM ${table}`);
  db.close();
  await nextTurn();
  return store;
}

testContracts('on SQLite', <Port>(portOf: (storage: Storage) => Port) => {
  const stores = new WeakMap<Opened<Port>, Store>();
  const opened = (store: Store, close: () => Promise<void>): Opened<Port> => {
    const result = { port: portOf(store.storage), close };
    stores.set(result, store);
    return result;
  };
  const storeOf = (of: Opened<Port>) => stores.get(of) as Store;
  const openAgain = async (of: Opened<Port>): Promise<Opened<Port>> => {
    const { path } = storeOf(of);
    const storage = openSqliteStorage(path, { startWriter: false });
    return opened({ path, storage }, () => storage.close());
  };
  return {
    async open() {
      const store = await takeStore();
      return opened(store, async () => {
        idle.push(store);
      });
    },
    async reopen(closed: Opened<Port>) {
      await storeOf(closed).storage.close();
      return openAgain(closed);
    },
    openSecond: openAgain,
    moveClock(of: Opened<Port>, milliseconds: number) {
      const db = new Database(storeOf(of).path);
      db.prepare('UPDATE idempotency_records SET valid_until = valid_until - ?').run(milliseconds);
      db.close();
    },
    async openBackup(path: string) {
      const storage = openSqliteStorage(path, { startWriter: false });
      return { port: storage, close: () => storage.close() };
    },
  };
});
