/**
 * Findings state which parts of a storage are at fault. Findings are plain objects, so that they can be sent between
 * threads.
 */

import { StorageFault, type StorageFaultReason } from '../../application/ports/storage-fault.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { storageError } from './errors.ts';

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** The message of SQLite or of the operating system. */
  readonly detail: string;
  /** The reason of the fault, or `undefined` when the storage is not at fault. */
  readonly reason?: StorageFaultReason | undefined;
}

/** The parts of a storage that can be at fault, in descending order of importance. */
export const PARTS = ['file', 'access', 'write', 'pages', 'read', 'thread'] as const;
export type Part = (typeof PARTS)[number];

/**
 * For each part that was examined: its failure, or `null` when the part is sound. A part that was not examined has no
 * property.
 */
export type Findings = Readonly<Partial<Record<Part, Failure | null>>>;

export function failureOf(error: unknown): Failure {
  const known = storageError(error);
  const reason = known instanceof StorageFault ? known.reason : undefined;
  return { code: known.code, message: known.message, detail: String(known.cause ?? error), reason };
}

/**
 * Returns the findings of a failure. A failure without a reason has no findings. Such a failure is an error in this
 * program, or means that another process held the lock of the database.
 */
export function findingsOf(failure: Failure): Findings {
  switch (failure.reason) {
    case undefined:
      return {};
    case 'file_missing':
    case 'file_replaced':
      return { file: failure };
    default:
      return { write: failure };
  }
}
