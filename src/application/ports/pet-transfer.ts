import { type AnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { PetFilter } from '../../domain/pet-filter.ts';
import type { CallOptions } from './pet-repository.ts';

/** The options of an import. An exception of a callback ends the import. */
export interface TransferOptions {
  /** Called with each pet that repeats an earlier id, before the next batch is requested. This pet is not imported. */
  readonly onDuplicateId: (pet: Pet) => void;
  /** Called from time to time, and at the end, with the number of pets in the transaction. */
  readonly onProgress?: ((count: number) => void) | undefined;
  /** Cancels the import, unless the transaction is already committed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Imports and exports pets in bulk. Needs only a few bits of memory for each imported id, more if the ids are far apart. A storage
 * in memory also holds the pets.
 */
export interface PetTransfer {
  /**
   * Stores the pets of all batches in one transaction, and resolves with their number when they are durable. Stores nothing when
   * anything fails, or when the signal is aborted. Other writers do not wait while the batches are read.
   *
   * The caller ensures that either all pets or no pets have ids. Pets without ids get them in the order of the batches, as
   * `PetRepository.add` assigns them. If the pets have ids and the store has ever had a pet, rejects with the error of
   * `idsNotAccepted`.
   */
  importPets(batches: AsyncIterable<readonly (NewPet | Pet)[]>, options: TransferOptions): Promise<number>;

  /**
   * Yields the matching pets in ascending order of id, in batches that are not empty. Does not yield pets that are added after the
   * first batch was requested. Leaving a `for await` loop early releases all resources.
   */
  exportPets(filter?: PetFilter, options?: CallOptions): AsyncIterable<readonly Pet[]>;
}

/** Returns the error of an import of pets with ids into a store that has had a pet. */
export function idsNotAccepted(): AnimalStoreError {
  return invalidRequest('ids can be imported only into a store that has never had a pet');
}
