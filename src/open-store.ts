/** From a configuration to a store, by the databases that a platform has. */

import { AnimalStore, type StoreStorage } from './application/animal-store.ts';
import type { Storage } from './application/ports.ts';
import { AnimalStoreError } from './domain/errors.ts';

/** Where the animals are: in a database that a URL names, or in a storage of one's own. */
export type AnimalStoreConfig =
  | {
      /**
       * `memory:`, which lasts as long as the store, or `sqlite:PATH`, a file that is made when it is missing.
       * A browser has no `sqlite:`.
       */
      readonly database: string;
      readonly storage?: undefined;
    }
  | {
      /** Any adapter that keeps the contract of the ports. */
      readonly storage: StoreStorage;
      readonly database?: undefined;
    };

export interface Database {
  /** What a URL for it looks like: its scheme, a colon, and a word for the rest. */
  readonly usage: `${string}:${string}`;
  /** `undefined` when the URL, of which `rest` is what follows the scheme, is none for it. Loads what it needs. */
  open(rest: string): Promise<Storage> | undefined;
}

export const MEMORY: Database = {
  usage: 'memory:',
  open: (rest) =>
    rest === ''
      ? import('./adapters/memory/storage.ts').then(({ openMemoryStorage }) => openMemoryStorage())
      : undefined,
};

export async function openStore(
  { database, storage }: AnimalStoreConfig,
  databases: readonly Database[],
): Promise<AnimalStore> {
  return new AnimalStore(storage ?? (await openDatabase(String(database), databases)));
}

function openDatabase(url: string, databases: readonly Database[]): Promise<Storage> {
  const [scheme, rest] = split(url);
  const named = databases.find(({ usage }) => split(usage)[0] === scheme);
  const opening = rest === undefined ? undefined : named?.open(rest.trim());
  if (opening !== undefined) return opening;
  // What follows an unknown scheme may hold a password.
  const given = named === undefined && rest !== undefined ? `${scheme}:…` : url;
  const allowed = databases.map(({ usage }) => usage).join(' or ');
  throw new AnimalStoreError('invalid_request', `database: '${given}' is given, ${allowed} is allowed`);
}

function split(url: string): [scheme: string, rest: string | undefined] {
  const colon = url.indexOf(':');
  return colon === -1 ? [url, undefined] : [url.slice(0, colon), url.slice(colon + 1)];
}
