/** Pets as comparable text: exact integers, a fixed order of members, one way to escape. */

import { isAlwaysStored, PET_ATTRIBUTES } from '../../../src/domain/pet.ts';

const MEMBERS = ['id', ...PET_ATTRIBUTES.filter(isAlwaysStored)].sort().join();

/** Throws when the text is not exactly a pet in JSON. */
export function canonicalPet(text: string): string {
  const sources: Record<string, string> = {};
  const keep = (key: string, value: unknown, { source }: { source: string }) => {
    if (typeof value === 'number') sources[key] = source;
    return value;
  };
  const pet = JSON.parse(text, keep as (key: string, value: unknown) => unknown);
  const members = Object.keys(pet).sort();
  if (members.join() !== MEMBERS) throw new Error(`a pet with the members ${members}`);
  return JSON.stringify(
    members.map((name) => (name in sources ? String(BigInt(`${sources[name]}`)) : pet[name])),
  );
}

export function nameOf(text: string): string {
  return (JSON.parse(text) as { name: string }).name;
}

export function idOf(text: string): number {
  return Number(/^\{"id":(\d+),/.exec(text)?.[1]);
}
