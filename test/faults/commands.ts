/** Operations of the fault tests on the store in a folder, also while a server uses it. */

import { writeFileSync } from 'node:fs';
import { newPetJson } from '../../src/domain/pet-json.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';
import { Workspace } from '../e2e/workspace.ts';

/** The value of `DATABASE_URL` for the store in a folder. */
export function storeOf(folder: string): string {
  return `sqlite:${folder}/pets.db`;
}

/** Exports all pets, one line of JSON each. */
export async function exportOf(folder: string): Promise<string[]> {
  return (await new Workspace(folder).output('export')).split('\n').slice(0, -1);
}

/** Creates a store with pets of one name. */
export async function storeWith(pets: number, name: string): Promise<Workspace> {
  const work = new Workspace();
  writeFileSync(work.path('pets'), `${newPetJson(samplePet(name))}\n`.repeat(pets));
  await work.output('import', '--create-store', 'pets');
  return work;
}

/** The name of a pet, and its id, in the JSON of the API or of an export: both write the same characters. */
export function nameOf(text: string): string {
  return (JSON.parse(text) as { name: string }).name;
}

export function idOf(text: string): number {
  return Number(/^\{"id":(\d+),/.exec(text)?.[1]);
}
