/** Runs the contract suites on stores that several cases reuse, because opening one takes longer than most cases. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll } from 'vitest';
import type { Storage } from '../../src/application/ports/storage.ts';
import type { Opened } from '../../src/testing/index.ts';
import { type SubjectOf, testContracts } from './contracts.ts';

interface Store {
  /** A path or a URL. */
  readonly place: string;
  readonly storage: Storage;
}

/** What differs between the databases. */
export interface ReusedStores {
  newPlace(): Promise<string> | string;
  /** Opens a store, which is new unless it is `existing`. */
  open(place: string, existing?: 'existing'): Promise<Storage> | Storage;
  /** Runs SQL on a connection that does not stay open. */
  execute(place: string, sql: string): Promise<void> | void;
  readonly emptying: string;
  /** The column with the time when a record of an idempotency key ends. */
  readonly recordEnd: string;
  readonly openBackup?: ReturnType<SubjectOf>['openBackup'];
}

export function testReusedStores(engine: string, database: ReusedStores): void {
  const { newPlace, open, execute, emptying, recordEnd, openBackup } = database;
  const idle: Store[] = [];

  afterAll(async () => {
    for (const { storage } of idle) await storage.close();
  });

  /** Returns an empty store: an idle one that was emptied, or a new one. */
  async function takeStore(): Promise<Store> {
    const store = idle.pop();
    if (store === undefined) {
      const place = await newPlace();
      return { place, storage: await open(place) };
    }
    const isOpen = await store.storage.check().then(
      () => true,
      () => false,
    );
    if (!isOpen) return takeStore();
    await execute(store.place, emptying);
    await nextTurn();
    return store;
  }

  testContracts(engine, <Port>(portOf: (storage: Storage) => Port) => {
    const stores = new WeakMap<Opened<Port>, Store>();
    const opened = (store: Store, close: () => Promise<void>): Opened<Port> => {
      const result = { port: portOf(store.storage), close };
      stores.set(result, store);
      return result;
    };
    const storeOf = (of: Opened<Port>) => stores.get(of) as Store;
    const openAgain = async (of: Opened<Port>): Promise<Opened<Port>> => {
      const { place } = storeOf(of);
      const storage = await open(place, 'existing');
      return opened({ place, storage }, () => storage.close());
    };
    return {
      async open() {
        const store = await takeStore();
        return opened(store, async () => void idle.push(store));
      },
      async reopen(closed: Opened<Port>) {
        await storeOf(closed).storage.close();
        return openAgain(closed);
      },
      openSecond: openAgain,
      moveClock: async (of: Opened<Port>, milliseconds: number) =>
        execute(
          storeOf(of).place,
          `UPDATE idempotency_records SET ${recordEnd} = ${recordEnd} - ${milliseconds}`,
        ),
      ...(openBackup && { openBackup }),
    };
  });
}
