import type { ApiKey } from '../../domain/api-key.ts';
import { AnimalStoreError } from '../../domain/errors.ts';

/** The options of a backup. */
export interface BackupOptions {
  /** Whether existing data is replaced. By default, the call is refused when there is existing data. */
  readonly overwrite?: boolean | undefined;
  /** Called from time to time with the fraction that is complete, from 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  /**
   * Called with the contents of the durable copy. If this callback is given, the whole copy is verified before it replaces any
   * file.
   */
  readonly onVerified?: ((contents: BackupContents) => void) | undefined;
  /** Cancels the work, which then has no effect. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of a restore. Without `overwrite`, the call is refused when the present store has pets or cannot be read. */
export type RestoreOptions = Omit<BackupOptions, 'onVerified'>;

/** The contents of a backup. */
export interface BackupContents {
  readonly pets: number;
  readonly apiKeys: number;
  /** The greatest id or revision that was assigned, or 0n. */
  readonly lastId: bigint;
  /**
   * The problems of pets that break a rule, because another program changed them or because the rule is newer than the pets. After
   * a restore, also the parts of the replaced store that could not be read.
   */
  readonly problems: readonly Problem[];
}

/** A restored store. */
export interface Restored extends BackupContents {
  readonly location: string;
  readonly bytes: number;
  /** The greatest id or revision in the backup and in the replaced store; 0n if neither has one. New pets get greater ids. */
  readonly lastId: bigint;
  /**
   * The paths at which the files of the replaced store are kept. Empty if no store was replaced, or if an earlier replaced store
   * is kept already and the replaced store has the same pets and keys as the backup.
   */
  readonly setAside: readonly string[];
  /**
   * How many pets and API keys of the replaced store are not in the backup. A pet with different values in the backup counts as
   * missing. `undefined` if no store was replaced. `pets` or `apiKeys` is `undefined` if this part of the store could not be read.
   */
  readonly lost?: { readonly pets?: number | undefined; readonly apiKeys?: number | undefined } | undefined;
  /** How many pets of the backup were removed in the replaced store. `undefined` if the removals could not be read. */
  readonly revivedPets?: number | undefined;
  /** The restored valid keys that were revoked, or had an earlier expiry, in the replaced store. */
  readonly revivedKeys: readonly RestoredKey[];
}

/** A key in a restored store. */
export type RestoredKey = Pick<ApiKey, 'id' | 'name' | 'prefix'>;

/** Something that an operator should change. An `error` makes the command `doctor` fail; a `warning` does not. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** The facts about a database, and its problems. Unknown facts are left out. */
export interface Diagnosis {
  /** Where the data is, such as the absolute path of a file; without passwords. */
  readonly location: string;
  /** Whether there is a store. `undefined` when the database cannot be read. */
  readonly exists: boolean | undefined;
  readonly schemaVersion?: number | undefined;
  /** The schema version that this release writes. */
  readonly supportedSchemaVersion?: number | undefined;
  readonly isSound?: boolean | undefined;
  readonly bytes?: number | undefined;
  readonly freeBytes?: number | undefined;
  readonly pets?: number | undefined;
  /** The greatest id or revision that was assigned, or 0n. */
  readonly lastId?: bigint | undefined;
  readonly apiKeys?: { readonly total: number; readonly active: number } | undefined;
  readonly idempotencyRecords?: number | undefined;
  readonly problems: readonly Problem[];
}

/** The error of a backup or a restore that would replace data without `overwrite`. Only its `reason` identifies it. */
export class OverwriteRefused extends AnimalStoreError {
  readonly reason = 'overwrite_refused';

  constructor(message: string) {
    super('invalid_request', message);
  }
}
