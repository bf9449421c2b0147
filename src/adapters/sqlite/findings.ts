/** What is found out about a storage, in a form that crosses between threads. */

import { StorageFault, type StorageFaultReason } from '../../application/storage-fault.ts';
import type { ErrorCode } from '../../domain/errors.ts';
import { storageError } from './errors.ts';

export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  /** What SQLite or the system said. */
  readonly detail: string;
  /** Set when the storage is at fault. */
  readonly reason?: StorageFaultReason | undefined;
}

/** What can be at fault, in the order in which it is reported. */
export const PARTS = ['file', 'access', 'write', 'pages', 'read', 'thread'] as const;
export type Part = (typeof PARTS)[number];

/** A failure, or `null` where all is well; a part that is left out was not looked at. */
export type Findings = Readonly<Partial<Record<Part, Failure | null>>>;

export function failureOf(error: unknown): Failure {
  const known = storageError(error);
  const reason = known instanceof StorageFault ? known.reason : undefined;
  return { code: known.code, message: known.message, detail: String(known.cause ?? error), reason };
}

/** What a failure tells of the storage; nothing when the program is at fault, or another process with its lock. */
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
