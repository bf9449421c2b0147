import type { Storage } from '../../application/ports.ts';
import { AnimalStoreError } from '../../domain/errors.ts';

/** In place of `storage.ts` in what is bundled for a browser or an edge runtime (`browser` in package.json). */
export function openSqliteStorage(path: string): Storage {
  throw new AnimalStoreError(
    'storage_unavailable',
    `${path}: a SQLite file needs Node.js, here there is memory: and a storage of your own`,
  );
}
