/** Adds spans to the calls of a storage. */

import type { ApiKeyRepository } from '../../application/ports/api-key-repository.ts';
import type { IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import type { PetRepository } from '../../application/ports/pet-repository.ts';
import type { Storage } from '../../application/ports/storage.ts';
import type { StorageSpans } from './storage-spans.ts';

/**
 * Returns a storage that calls the given one, with a span for each call of the repositories. The other methods have no
 * spans: no request to the API causes an import, an export or a backup, and health checks share one check.
 */
export function traceStorage(storage: Storage, spans: StorageSpans): Storage {
  return {
    pets: tracedPets(storage.pets, spans),
    apiKeys: tracedKeys(storage.apiKeys, spans),
    idempotentCreates: tracedCreates(storage.idempotentCreates, spans),
    transfer: storage.transfer,
    backup: storage.backup?.bind(storage),
    statistics: storage.statistics?.bind(storage),
    check: () => storage.check(),
    close: () => storage.close(),
  };
}

function tracedPets(pets: PetRepository, spans: StorageSpans): PetRepository {
  return {
    add: (pet) => spans.run('add', 'pets', () => pets.add(pet)),
    find: (id) => spans.run('find', 'pets', () => pets.find(id)),
    list: (query) => spans.run('list', 'pets', () => pets.list(query)),
  };
}

function tracedKeys(keys: ApiKeyRepository, spans: StorageSpans): ApiKeyRepository {
  const run = <T>(operation: keyof ApiKeyRepository, work: () => Promise<T>): Promise<T> =>
    spans.run(operation, 'api_keys', work);
  return {
    find: (key) => run('find', () => keys.find(key)),
    add: (key, about) => run('add', () => keys.add(key, about)),
    addFirst: (key, about, save) => run('addFirst', () => keys.addFirst(key, about, save)),
    replace: (old, endsAt, key, about) => run('replace', () => keys.replace(old, endsAt, key, about)),
    revoke: (id, revokedAt) => run('revoke', () => keys.revoke(id, revokedAt)),
    setLastUsedOn: (id, day) => run('setLastUsedOn', () => keys.setLastUsedOn(id, day)),
    list: () => run('list', () => keys.list()),
  };
}

function tracedCreates(creates: IdempotentCreates, spans: StorageSpans): IdempotentCreates {
  const run = <T>(operation: keyof IdempotentCreates, work: () => Promise<T>): Promise<T> =>
    spans.run(operation, 'idempotency_records', work);
  return {
    add: (pet, attempt) => run('add', () => creates.add(pet, attempt)),
    count: () => run('count', () => creates.count()),
    removeRecords: (createdBefore, limit) =>
      run('removeRecords', () => creates.removeRecords(createdBefore, limit)),
    redateRecords: (now, limit) => run('redateRecords', () => creates.redateRecords(now, limit)),
  };
}
