/** Wraps a storage so that some or all methods of its pets are those of a test. */

import type { PetRepository } from '../../src/application/ports/pet-repository.ts';
import type { Storage } from '../../src/application/ports/storage.ts';

/** The other methods stay as they are, and work without `this`. A spread of a class instance would lose them. */
export function withPets(storage: Storage, methods: Partial<PetRepository>): Storage {
  const pets = new Proxy(storage.pets, {
    get(own, name) {
      const target = name in methods ? methods : own;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...storage, pets };
}

/** All methods of the pets reject with the error, and the check of the storage too. */
export function failingPets(error: unknown): (storage: Storage) => Storage {
  const fail = () => Promise.reject(error);
  return (storage) => ({ ...storage, pets: new Proxy(storage.pets, { get: () => fail }), check: fail });
}
