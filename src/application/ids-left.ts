import { INT64_MAX } from '../domain/int64.ts';
import type { Problem } from './ports/maintenance.ts';
import { StorageFault } from './ports/storage-fault.ts';

/** An import of pets with ids can leave few ids. With fewer than these, there is a warning. */
const FEW = 2n ** 32n;

/** @param lastId the greatest id that was assigned */
export function idProblems(lastId: bigint): Problem[] {
  const left = INT64_MAX - lastId;
  if (left === 0n) return [{ severity: 'error', message: `${idsExhausted().message}: ${WAY_OUT}` }];
  if (left >= FEW) return [];
  return [{ severity: 'warning', message: `only ${left} ids are left for new pets: ${WAY_OUT}` }];
}

const WAY_OUT = 'export the pets, and import them with --new-ids into a new store';

export function idsExhausted(): StorageFault {
  return new StorageFault('ids_exhausted', 'all ids have been assigned');
}
