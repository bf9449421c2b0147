import { type AnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { CallOptions, PetQuery } from './pet-repository.ts';

/** The options of an import: callbacks, and a signal that cancels the import. */
export interface TransferOptions {
  /**
   * Called for each pet that has the same id as an earlier pet of this import, before the next batch is requested. The
   * later pet is not imported. The argument is the object from the batch itself, not a copy. An exception of the
   * callback ends the import.
   */
  readonly onDuplicateId: (pet: Pet) => void;
  /**
   * After all batches were read, the pets are stored in one transaction. During this time, the callback is called from
   * time to time. `count` is the number of pets that the transaction contains so far. In the last call, `count` is the
   * number of all pets. An exception of the callback ends the import.
   */
  readonly onProgress?: ((count: number) => void) | undefined;
  /** The signal that cancels the import. An abort has no effect when the transaction is already committed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Imports and exports pets in bulk. Memory use does not grow with the number of pets, unless the storage engine stores
 * its data in memory.
 */
export interface PetTransfer {
  /**
   * Stores the pets of all batches in one transaction, and resolves with the number of pets when they are durable.
   * Nothing is stored when a batch cannot be read, when the storage, a callback or the process fails, or when the
   * signal is aborted. No read returns a pet of the import before all pets of the import are stored.
   *
   * The caller ensures that either all pets have an id or none of them has one. Pets without ids get ids in the order
   * of the batches, as `PetRepository.add` assigns ids. Pets with ids keep their ids, and may have any order. A store
   * that has ever had a pet refuses pets with ids: the import rejects with the error of `idsNotAccepted`.
   *
   * Other writers may have to wait during the transaction, but not while the batches are read.
   */
  importPets(batches: AsyncIterable<readonly (NewPet | Pet)[]>, options: TransferOptions): Promise<number>;

  /**
   * Yields all matching pets in batches, in ascending order of id. A pet that is added after the first batch was
   * requested is not yielded. No batch is empty. A caller can leave the loop early: this releases all resources.
   */
  exportPets(query?: Pick<PetQuery, 'status'>, options?: CallOptions): AsyncIterable<readonly Pet[]>;
}

/** Returns the error for an import of pets with ids into a store that has ever had a pet. */
export function idsNotAccepted(): AnimalStoreError {
  return invalidRequest('ids can be imported only into a store that has never had a pet');
}
