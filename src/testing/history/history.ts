/** Records the calls of the clients of a store. */

import { LIMIT_DEFAULT, type PetPageQuery } from '../../application/list-pets.ts';
import type { ApiKeyHolder } from '../../application/ports/api-key-verifier.ts';
import type { PetPage } from '../../application/ports/pet-repository.ts';
import { asAnimalStoreError, type ErrorCode } from '../../domain/errors.ts';
import { type NewPetInput, newPet, type Pet } from '../../domain/pet.ts';
import type { CreateEvent, CreateFailure, KeyEvent, PetEvent } from './events.ts';
import { keyContradiction } from './key-order.ts';
import { petContradiction } from './pet-order.ts';

/** The operations of a store that a {@link History} records. Every `BasicStore` has them. */
export interface PetOperations {
  /** Like `AnimalStore.createPet`. */
  createPet(input: NewPetInput, options?: { readonly idempotencyKey?: string }): Promise<Pet>;
  /** Like `AnimalStore.getPet`. */
  getPet(id: bigint): Promise<Pet>;
  /** Like `AnimalStore.listPage`. */
  listPage(query?: PetPageQuery): Promise<PetPage>;
}

/** The operations on API keys that a {@link History} records. An `AnimalStore` has them. */
export interface KeyOperations {
  readonly apiKeys: {
    create(name: string): Promise<{ readonly key: string; readonly about: { readonly id: string } }>;
    revoke(id: string): Promise<unknown>;
  };
  /** Like `AnimalStore.verifyApiKey`. */
  verifyApiKey(key: string): Promise<ApiKeyHolder | undefined>;
}

/** A create has stored nothing if its error has one of these codes but no property `idempotencyKey`. */
const REFUSALS: readonly ErrorCode[] = [
  'forbidden',
  'invalid_request',
  'overloaded',
  'rate_limited',
  'unauthorized',
];

/**
 * Records calls of several clients of one store, and examines whether there is one order of all creates and reads that agrees with
 * the ids and with real time (strict serializability). In this order, each read sees exactly the pets that were created before it.
 * The clients can use different servers and storages, as long as these share the pets, and nobody else creates pets. Equal
 * idempotency keys must belong to the same caller.
 *
 * @example
 * ```ts
 * import { createAnimalStore } from 'animal-store';
 * import { exercise, History } from 'animal-store/testing';
 *
 * const store = await createAnimalStore({ database: 'memory:' });
 * const history = new History();
 * await exercise(history, [store]);
 * await history.record(store, 'Anna').listPage({ limit: 20 });
 * console.log(history.contradiction()); // undefined
 * await store.close();
 * ```
 */
export class History {
  readonly #pets: PetEvent[] = [];
  readonly #keys: KeyEvent[] = [];
  #position = 0;

  /** The number of recorded calls. */
  get size(): number {
    return this.#pets.length + this.#keys.length;
  }

  /** Returns an object that calls `store`, and records each call. A failed read is recorded only if its error is `not_found`. */
  record(store: PetOperations, client: string): PetOperations {
    return {
      createPet: async (input, options = {}) => {
        const call = this.#next();
        const common = {
          kind: 'create',
          client,
          call,
          pet: newPet(input),
          key: options.idempotencyKey,
        } as const;
        const index = this.#pets.push({ ...common, end: Infinity, result: 'unknown' }) - 1;
        const settle = (result: CreateEvent['result']): void => {
          this.#pets[index] = { ...common, end: this.#next(), result };
        };
        try {
          const pet = await store.createPet(input, options);
          settle(pet);
          return pet;
        } catch (error) {
          settle(failureOf(error));
          throw error;
        }
      },
      getPet: async (id) => {
        const call = this.#next();
        const record = (result: Pet | undefined): void => {
          this.#pets.push({ kind: 'get', client, call, end: this.#next(), id, result });
        };
        try {
          const pet = await store.getPet(id);
          record(pet);
          return pet;
        } catch (error) {
          if (asAnimalStoreError(error)?.code === 'not_found') record(undefined);
          throw error;
        }
      },
      listPage: async (query = {}) => {
        const call = this.#next();
        const result = await store.listPage(query);
        const recorded = { ...query, limit: query.limit ?? LIMIT_DEFAULT };
        this.#pets.push({ kind: 'list', client, call, end: this.#next(), query: recorded, result });
        return result;
      },
    };
  }

  /** Like {@link History.record}, for API keys. A call that rejects is not recorded. */
  recordKeys(store: KeyOperations, client: string): KeyOperations {
    const ids = new Map<string, string>();
    const begin = (kind: KeyEvent['kind']) => {
      const begun = { kind, client, call: this.#next(), calledAt: performance.now() };
      return (result: Pick<KeyEvent, 'keyId' | 'isAccepted'>) =>
        this.#keys.push({ ...begun, end: this.#next(), endedAt: performance.now(), ...result });
    };
    return {
      apiKeys: {
        async create(name) {
          const end = begin('create key');
          const created = await store.apiKeys.create(name);
          ids.set(created.key, created.about.id);
          end({ keyId: created.about.id });
          return created;
        },
        async revoke(id) {
          const end = begin('revoke key');
          const revoked = await store.apiKeys.revoke(id);
          end({ keyId: id });
          return revoked;
        },
      },
      async verifyApiKey(key) {
        const end = begin('verify key');
        const holder = await store.verifyApiKey(key);
        end({ keyId: ids.get(key) ?? holder?.id ?? 'unknown', isAccepted: holder !== undefined });
        return holder;
      },
    };
  }

  /**
   * Returns a description of a contradiction, such as `list limit=20 after=1496 (client 2) saw pet 1558 and missed pet 1557`, or
   * `undefined` when the recorded calls fit one order.
   *
   * @param visibilityTimeout how long a change of an API key may be unknown to other clients, in milliseconds
   */
  contradiction(visibilityTimeout = 1000): string | undefined {
    return petContradiction(this.#pets) ?? keyContradiction(this.#keys, visibilityTimeout);
  }

  #next(): number {
    this.#position += 1;
    return this.#position;
  }
}

function failureOf(error: unknown): CreateFailure {
  const { code, idempotencyKey } = asAnimalStoreError(error) ?? {};
  if (code === 'idempotency_conflict') return 'conflict';
  return code !== undefined && idempotencyKey === undefined && REFUSALS.includes(code)
    ? 'refused'
    : 'unknown';
}
