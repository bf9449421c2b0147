/** What the client does differently while operations of the server are deprecated or experimental. */

import type { CallOptions, PetRepository } from '../../application/ports/pet-repository.ts';
import type { Pet } from '../../domain/pet.ts';
import type { Send } from './request.ts';

/** Where a server does not serve changes. */
export const ADVICE: readonly string[] = ['start it with EXPERIMENTAL=on'];

/** Reads a list, because the operation that reads one pet is deprecated. */
export async function findPet(
  { pets }: { readonly pets: Pick<PetRepository, 'list'>; readonly base: string; readonly send: Send },
  id: bigint,
  options?: CallOptions,
): Promise<Pet | undefined> {
  const page = await pets.list({ limit: 1, after: id - 1n }, options);
  return page.pets[0]?.id === id ? page.pets[0] : undefined;
}
