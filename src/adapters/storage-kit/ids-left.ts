import type { Problem } from '../../application/ports/maintenance.ts';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import { INT64_MAX } from '../../domain/int64.ts';

/** @param lastId the greatest id that was assigned */
export function idProblems(lastId: bigint): Problem[] {
  if (lastId < INT64_MAX) return [];
  const wayOut = 'export the pets, and import them without their ids into a new store';
  return [{ severity: 'error', message: `${idsExhausted().message}: ${wayOut}` }];
}

export function idsExhausted(): StorageFault {
  return new StorageFault('ids_exhausted', 'all ids have been assigned');
}
