import { AnimalStoreError, isError } from '../../domain/errors.ts';

/** The reasons why a storage cannot handle requests. `GET /readyz` shows them to everybody, and scripts depend on them. */
export const STORAGE_FAULT_REASONS = [
  'file_missing', // a file of the database is missing, or the database contains no store
  'file_replaced', // a file of the database was replaced by another file
  'disk_full',
  'read_only',
  'io_error', // a read or a write failed; this fault and the two above end when reading and writing work again
  'ids_exhausted', // all ids have been assigned, so no pet can be created
  'damaged', // the stored data cannot be read
  'sync_failed', // the disk did not confirm that a write is durable; all writes are refused until a restart
  'not_responding', // the disk or the database server does not respond
  'locked', // writes were refused, because another process has locked the database
  'unreachable', // the database server cannot be reached, or refuses connections
  'not_permitted', // the database user lacks a privilege, or the database silently hides rows from this user
] as const;
/** One of {@link STORAGE_FAULT_REASONS}. */
export type StorageFaultReason = (typeof STORAGE_FAULT_REASONS)[number];

/** The error of a storage that cannot handle requests. The details are in `cause`, and are not sent to clients. */
export class StorageFault extends AnimalStoreError {
  readonly reason: StorageFaultReason;

  constructor(reason: StorageFaultReason, message: string, options?: ErrorOptions) {
    super('storage_unavailable', message, options);
    this.reason = reason;
  }
}

/** Returns an error with the code `storage_unavailable`: a {@link StorageFault} if a reason is given. */
export function storageUnavailable(
  message: string,
  cause?: unknown,
  reason?: StorageFaultReason,
): AnimalStoreError {
  const options = cause === undefined ? {} : { cause };
  return reason === undefined
    ? new AnimalStoreError('storage_unavailable', message, options)
    : new StorageFault(reason, message, options);
}

/** Returns the reason of a {@link StorageFault}, even from another copy of this module, or `undefined` for any other value. */
export function storageFaultReason(error: unknown): StorageFaultReason | undefined {
  if (!isError(error) || !('reason' in error)) return undefined;
  return STORAGE_FAULT_REASONS.find((reason) => reason === error.reason);
}
