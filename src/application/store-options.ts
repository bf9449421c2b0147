import { ANY, BOOLEAN, FUNCTION, type OptionRules, SIGNAL } from './arguments.ts';
import type { PetPageQuery } from './list-pets.ts';
import type { IdempotentCreates } from './ports/idempotent-creates.ts';
import type { PetQuery } from './ports/pet-repository.ts';
import type { PetTransfer } from './ports/pet-transfer.ts';
import type { BackupOptions, Storage } from './ports/storage.ts';

/** The query of `AnimalStore.listPets`. */
export interface PetWalk extends Pick<PetPageQuery, 'status' | 'after'> {
  /** The maximum number of pets, 1 or more. By default, there is no maximum. */
  readonly limit?: number | undefined;
}

/** The options of `AnimalStore.createPet`. */
export interface CreateOptions {
  /**
   * A key that makes a repeated call safe: within 24 hours, a call with the same key and the same pet stores no second
   * pet, and resolves with the first one. The key has 1 to 255 visible ASCII characters.
   */
  readonly idempotencyKey?: string | undefined;
}

/**
 * The storage of an `AnimalStore`. A storage without `transfer` does not support imports and exports. A storage
 * without `idempotentCreates` does not support idempotency keys.
 */
export interface StoreStorage extends Omit<Storage, 'transfer' | 'idempotentCreates'> {
  readonly transfer?: PetTransfer | undefined;
  readonly idempotentCreates?: IdempotentCreates | undefined;
}

export const EXPORT_QUERY: OptionRules<Pick<PetQuery, 'status'>> = { status: ANY };
export const CREATE_OPTIONS: OptionRules<CreateOptions> = { idempotencyKey: ANY };
/** The options of a backup, which are those of a restore too. */
export const BACKUP_OPTIONS: OptionRules<BackupOptions> = {
  overwrite: BOOLEAN,
  onProgress: FUNCTION,
  signal: SIGNAL,
};
