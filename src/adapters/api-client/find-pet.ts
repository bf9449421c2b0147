import type { CallOptions } from '../../application/ports/pet-repository.ts';
import type { Pet } from '../../domain/pet.ts';
import type { ApiClient } from './api-client.ts';
import { listPets } from './list-pets.ts';

/** Reads a list, because the operation that reads one pet is deprecated. */
export async function findPet(api: ApiClient, id: bigint, options?: CallOptions): Promise<Pet | undefined> {
  const { pets } = await listPets(api, { limit: 1, after: id - 1n }, options);
  return pets[0]?.id === id ? pets[0] : undefined;
}
