import type { ApiKey } from '../../domain/api-key.ts';
import { AnimalStoreError } from '../../domain/errors.ts';

/** The options of a backup. */
export interface BackupOptions {
  /** Whether existing data is replaced. By default, the call is refused then. */
  readonly overwrite?: boolean | undefined;
  /** Called from time to time with the fraction that is complete, from 0 to 1. */
  readonly onProgress?: ((fraction: number) => void) | undefined;
  /** Called with the contents of the durable copy. Only with this callback is the whole copy verified first. */
  readonly onVerified?: ((contents: BackupContents) => void) | undefined;
  /** Cancels the work, which then has no effect. */
  readonly signal?: AbortSignal | undefined;
}

/** The options of a restore. Without `overwrite`, a store that has pets, or that cannot be read, is refused. */
export type RestoreOptions = Omit<BackupOptions, 'onVerified'>;

/** The contents of a backup. */
export interface BackupContents {
  readonly pets: number;
  readonly apiKeys: number;
  /** The greatest id that was assigned to a pet, or 0n. */
  readonly lastId: bigint;
  /** One for each pet that breaks a rule, because another program has changed it. */
  readonly problems: readonly Problem[];
}

/** A restored store. */
export interface Restored extends BackupContents {
  readonly location: string;
  readonly bytes: number;
  /** The greatest id that the backup or the replaced store had assigned, or 0n: new pets get greater ones. */
  readonly lastId: bigint;
  /** The paths of the files of the replaced store, which are kept until the next restore. */
  readonly setAside: readonly string[];
  /** The data of the replaced store that the backup lacks. `undefined` without a store that could be read. */
  readonly lost?: { readonly pets: number; readonly apiKeys: number } | undefined;
  /** The keys that were revoked or expired in the replaced store, and are valid again. */
  readonly revivedKeys: readonly RestoredKey[];
}

/** A key in a restored store. */
export type RestoredKey = Pick<ApiKey, 'id' | 'name' | 'prefix'>;

/** Something that an operator should change. An `error` prevents the service from working, a `warning` does not. */
export interface Problem {
  readonly severity: 'error' | 'warning';
  readonly message: string;
}

/** The facts about a database, and its problems. A fact that is unknown is missing. */
export interface Diagnosis {
  /** Where the data is, without passwords, such as the absolute path of a file. */
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
  /** The greatest id that was assigned to a pet, or 0n. */
  readonly lastId?: bigint | undefined;
  readonly apiKeys?: { readonly total: number; readonly active: number } | undefined;
  readonly idempotencyRecords?: number | undefined;
  readonly problems: readonly Problem[];
}

/** The error of a backup or a restore that would replace data without `overwrite`. */
export class OverwriteRefused extends AnimalStoreError {
  constructor(message: string) {
    super('invalid_request', message);
  }
}
