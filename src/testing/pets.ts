/** Animals for the contract of `PetRepository`, and what is done to them again and again. */

import assert from 'node:assert/strict';
import type { PetQuery, PetRepository } from '../application/ports.ts';
import { type NewPet, newPet, PET_STATUSES, type Pet, type PetStatus } from '../domain/pet.ts';
import { nextTurn } from './contract.ts';

export function animal(name: string, status: PetStatus = 'available', categoryId = 1n): NewPet {
  return newPet({ name, status, categoryId });
}

export function animals(count: number): NewPet[] {
  return Array.from({ length: count }, (_, index) =>
    animal(`animal ${index}`, PET_STATUSES[index % PET_STATUSES.length], BigInt(index)),
  );
}

export async function addAll(pets: PetRepository, newPets: readonly NewPet[]): Promise<Pet[]> {
  const added: Pet[] = [];
  for (const newPet of newPets) added.push(await pets.add(newPet));
  return added;
}

/** Every page from the first on, together. Gives up at `enough`, when somebody adds faster than this walks. */
export async function walk(pets: PetRepository, query: PetQuery, enough: number = Infinity): Promise<Pet[]> {
  const walked: Pet[] = [];
  let page = await pets.list(query);
  walked.push(...page.pets);
  while (page.more && walked.length < enough) {
    await nextTurn();
    page = await pets.list({ ...query, after: walked.at(-1)?.id });
    walked.push(...page.pets);
  }
  return walked;
}

/** Runs something while another client adds animals, one after the other. */
export async function whileWriting<T>(pets: PetRepository, run: () => Promise<T>): Promise<T> {
  let goesOn = true;
  const write = async () => {
    while (goesOn) {
      await addAll(pets, animals(6));
      await nextTurn();
    }
  };
  const writing = write();
  return run().finally(() => {
    goesOn = false;
    return writing;
  });
}

export async function assertPage(
  pets: PetRepository,
  query: PetQuery,
  expected: readonly Pet[],
  more: boolean,
): Promise<void> {
  const page = await pets.list(query);
  assert.deepEqual(page.pets, expected);
  assert.equal(page.more, more);
}

export function assertAscending(pets: readonly Pet[]): void {
  for (const [index, { id }] of pets.entries()) {
    assert.ok(index === 0 || id > (pets[index - 1] as Pet).id, `id ${id} is not greater than the one before`);
  }
}

export function byId(a: Pet, b: Pet): number {
  return a.id < b.id ? -1 : 1;
}
