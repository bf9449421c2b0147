import { AnimalStoreError } from '../domain/errors.ts';

/**
 * Why a storage cannot serve, in words that tell no path and that operators and their scripts can rely on.
 *
 * - `file_missing`, `file_replaced`: the file at the path is not the one that is open
 * - `disk_full`, `read_only`, `io_error`: writing, or reading, fails; service returns by itself when it works again
 * - `damaged`: what is stored cannot be read
 * - `sync_failed`: the disk did not confirm a write, so that nothing is stored until a restart
 * - `not_responding`: the disk does not respond
 */
export const STORAGE_FAULT_REASONS = [
  'file_missing',
  'file_replaced',
  'disk_full',
  'read_only',
  'io_error',
  'damaged',
  'sync_failed',
  'not_responding',
] as const;
/** One of {@link STORAGE_FAULT_REASONS}. */
export type StorageFaultReason = (typeof STORAGE_FAULT_REASONS)[number];

/** A storage cannot serve. Its `cause` has the detail that clients do not learn. */
export class StorageFault extends AnimalStoreError {
  readonly reason: StorageFaultReason;

  constructor(reason: StorageFaultReason, message: string, options?: ErrorOptions) {
    super('storage_unavailable', message, options);
    this.reason = reason;
  }
}

/** The reason of an error that has one, whichever copy of this module made it. */
export function storageFaultReason(error: unknown): StorageFaultReason | undefined {
  if (!(error instanceof Error) || !('reason' in error)) return undefined;
  return STORAGE_FAULT_REASONS.find((reason) => reason === error.reason);
}
