import { type AnimalStoreError, invalidRequest } from '../../domain/errors.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { PetFilter, PetFilterInput } from '../../domain/pet-filter.ts';
import type { CallOptions } from './pet-repository.ts';

/** The options of an import. An exception of a callback ends the import. */
export interface TransferOptions {
  /**
   * Called with the object from the batch for each pet that has the same id as an earlier pet, before the next batch is
   * requested. The later pet is not imported.
   */
  readonly onDuplicateId: (pet: Pet) => void;
  /** Called from time to time with the number of pets in the transaction, and at the end with the number of all pets. */
  readonly onProgress?: ((count: number) => void) | undefined;
  /** Cancels the import, unless the transaction is already committed. */
  readonly signal?: AbortSignal | undefined;
}

/** A filter of an export, as a caller writes it. */
export type ExportInput = PetFilterInput;

/** Imports and exports pets in bulk. Memory use grows only by some bits for each id of an import, unless the data is in memory. */
export interface PetTransfer {
  /**
   * Stores the pets of all batches in one transaction, and resolves with the number of pets when they are durable.
   * Nothing is stored when anything fails, or when the signal is aborted. No read returns a pet of the import before all
   * its pets are stored. Other writers may have to wait during the transaction, but not while the batches are read.
   *
   * The caller ensures that either all pets have an id or none of them has one. Pets without ids get ids in the order
   * of the batches, as `PetRepository.add` assigns ids. Pets with ids keep them, and may have any order. A store that has
   * ever had a pet refuses pets with ids with `idsNotAccepted`.
   */
  importPets(batches: AsyncIterable<readonly (NewPet | Pet)[]>, options: TransferOptions): Promise<number>;

  /**
   * Yields all matching pets in batches, in ascending order of id. A pet that is added after the first batch was
   * requested is not yielded. No batch is empty. A caller can leave the loop early: this releases all resources.
   */
  exportPets(filter?: PetFilter, options?: CallOptions): AsyncIterable<readonly Pet[]>;
}

export function idsNotAccepted(): AnimalStoreError {
  return invalidRequest('ids can be imported only into a store that has never had a pet');
}
