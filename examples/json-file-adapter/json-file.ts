/** Stores pets in a JSON file, which is rewritten for each new pet: for hundreds of pets, not for millions. */

import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AnimalStoreError, INT64_MIN, type Pet, type PetRepository } from 'animal-store';

export async function openJsonFile(path: string): Promise<PetRepository & { close(): Promise<void> }> {
  let pets = await load(path);
  let lastAdded: Promise<unknown> = Promise.resolve();
  return {
    // One at a time, so that ids ascend. No read sees a pet before it is durable.
    add({ name, categoryId, status }) {
      const added = lastAdded.then(async () => {
        const pet = Object.freeze({ id: (pets.at(-1)?.id ?? 0n) + 1n, name, categoryId, status });
        await save(path, [...pets, pet]);
        pets = [...pets, pet];
        return pet;
      });
      lastAdded = added.catch(() => {});
      return added;
    },
    find: async (id) => pets.find((pet) => pet.id === id),
    async list({ limit, status, after = INT64_MIN }) {
      const found = pets.filter((pet) => pet.id > after && (status === undefined || pet.status === status));
      return Object.freeze({ pets: Object.freeze(found.slice(0, limit)), more: found.length > limit });
    },
    close: async () => void (await lastAdded),
  };
}

async function load(path: string): Promise<readonly Pet[]> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    if (cause.code === 'ENOENT') return '[]';
    throw new AnimalStoreError('storage_unavailable', `${path} cannot be read`, { cause });
  });
  return (JSON.parse(text) as { id: string; categoryId: string }[]).map((pet) =>
    Object.freeze({ ...pet, id: BigInt(pet.id), categoryId: BigInt(pet.categoryId) } as Pet),
  );
}

/** After a crash, the file is the old one or the new one. An int64 is written as text: JSON.parse would round it. */
async function save(path: string, pets: readonly Pet[]): Promise<void> {
  const text = JSON.stringify(pets, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  try {
    await writeFile(`${path}.new`, text, { flush: true });
    await rename(`${path}.new`, path);
    const folder = await open(dirname(path));
    await folder.sync().finally(() => folder.close());
  } catch (cause) {
    throw new AnimalStoreError('storage_unavailable', `${path} cannot be written`, { cause });
  }
}
