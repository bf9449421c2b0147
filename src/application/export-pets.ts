import { checkStatus, type Pet } from '../domain/pet.ts';
import { ANY, checkOptions, type OptionRules } from './arguments.ts';
import type { CallOptions, PetQuery } from './ports/pet-repository.ts';
import type { PetTransfer } from './ports/pet-transfer.ts';

export type ExportQuery = Pick<PetQuery, 'status'>;

const QUERY: OptionRules<ExportQuery> = { status: ANY };

/** Exports pets in bulk, as `AnimalStore.exportPets` describes. */
export function exportPets(
  transfer: PetTransfer,
  query: ExportQuery,
  options?: CallOptions,
): AsyncIterable<readonly Pet[]> {
  checkOptions(query, QUERY);
  checkStatus(query.status);
  return transfer.exportPets(query, options);
}
