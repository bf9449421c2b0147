/** Animals in bulk for the contract of `PetTransfer`. */

import type { PetQuery, PetTransfer } from '../application/ports.ts';
import type { NewPet, Pet } from '../domain/pet.ts';
import { nextTurn } from './contract.ts';
import { animal } from './pets.ts';

export function petWithId(id: bigint, name = `animal ${id}`): Pet {
  return { id, ...animal(name, 'pending', -id) };
}

export function withoutId({ name, categoryId, status }: Pet): NewPet {
  return { name, categoryId, status };
}

export function inBatches<T>(pets: readonly T[], size = 100): AsyncIterable<readonly T[]> {
  const batches: T[][] = [];
  for (let start = 0; start < pets.length; start += size) batches.push(pets.slice(start, start + size));
  return oneByOne(batches);
}

/** @param before called with the index of a batch before it is given */
export async function* oneByOne<T>(
  batches: readonly (readonly T[])[],
  before: (index: number) => unknown = () => {},
): AsyncGenerator<readonly T[]> {
  for (const [index, batch] of batches.entries()) {
    await nextTurn();
    before(index);
    yield batch;
  }
}

export async function batchesOf(
  transfer: PetTransfer,
  query?: Pick<PetQuery, 'status'>,
): Promise<(readonly Pet[])[]> {
  const batches: (readonly Pet[])[] = [];
  for await (const batch of transfer.exportPets(query)) batches.push(batch);
  return batches;
}

export async function exported(transfer: PetTransfer, query?: Pick<PetQuery, 'status'>): Promise<Pet[]> {
  return (await batchesOf(transfer, query)).flat();
}
