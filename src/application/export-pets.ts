import { checkStatus, type Pet } from '../domain/pet.ts';
import { LIMIT_MAX } from './list-pets.ts';
import type { CallOptions, PetPage, PetQuery } from './ports/pet-repository.ts';
import type { StoreStorage } from './ports/storage.ts';

export type ExportQuery = Pick<PetQuery, 'status'>;

/** Exports pets in bulk, as `AnimalStore.exportPets` describes. A storage without transfers is read page by page. */
export async function* exportPets(
  { pets, transfer }: Pick<StoreStorage, 'pets' | 'transfer'>,
  { status }: ExportQuery,
  options?: CallOptions,
): AsyncGenerator<readonly Pet[], void> {
  checkStatus(status);
  if (transfer !== undefined) return yield* transfer.exportPets({ status }, options);
  let after: bigint | undefined;
  let page: PetPage;
  do {
    page = await pets.list({ limit: LIMIT_MAX, status, after }, options);
    if (page.pets.length > 0) yield page.pets;
    after = page.pets.at(-1)?.id;
  } while (page.more && after !== undefined);
}
