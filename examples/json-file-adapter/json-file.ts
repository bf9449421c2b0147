/** Stores pets in a JSON file. Each new pet rewrites the file, so it is for hundreds of pets, not for millions. */

import { open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import {
  AnimalStoreError,
  type CreateResult,
  type IdempotencyRecords,
  type IdempotentCreates,
  INT64_MIN,
  type NewPet,
  type Pet,
  parsePet,
  petJson,
  type StoreStorage,
} from 'animal-store';

/** A pet, with a record of its idempotency key if it was created with one. */
interface Entry {
  readonly pet: Pet;
  readonly record?:
    | { readonly caller: string; readonly key: string; readonly validUntil: number }
    | undefined;
}

/** A storage without API keys, imports and backups: calls that need them are refused. */
export interface JsonFileStorage extends StoreStorage {
  readonly idempotentCreates: IdempotentCreates;
  readonly idempotencyRecords: IdempotencyRecords;
}

export async function openJsonFile(path: string): Promise<JsonFileStorage> {
  let entries = await load(path);
  let lastWrite: Promise<unknown> = Promise.resolve();

  /** One write at a time, so that ids ascend. No read sees a pet before it is durable. */
  function write<T>(change: () => { readonly after: readonly Entry[]; readonly result: T }): Promise<T> {
    const written = lastWrite.then(async () => {
      const { after, result } = change();
      if (after !== entries) await save(path, after);
      entries = after;
      return result;
    });
    lastWrite = written.catch(() => {});
    return written;
  }

  function withPet(newPet: NewPet, record?: Entry['record']) {
    const pet = Object.freeze({ ...newPet, id: (entries.at(-1)?.pet.id ?? 0n) + 1n });
    return { pet, after: [...entries, { pet, record }] };
  }

  return {
    pets: {
      add(newPet) {
        const given = { ...newPet };
        return write(() => {
          const { pet, after } = withPet(given);
          return { after, result: pet };
        });
      },
      find: async (id) => entries.find(({ pet }) => pet.id === id)?.pet,
      async list({ limit, status, after = INT64_MIN }) {
        const found = entries
          .map(({ pet }) => pet)
          .filter((pet) => pet.id > after && (status === undefined || pet.status === status));
        return Object.freeze({ pets: Object.freeze(found.slice(0, limit)), more: found.length > limit });
      },
    },
    idempotentCreates: {
      /** Writes the pet and its record together: if a crash left only one of them, a retry could store the pet twice, or never. */
      add(newPet, { caller, key, validFor }) {
        const given = { ...newPet };
        return write<CreateResult>(() => {
          const old = entries.find(({ record }) => record?.caller === caller && record.key === key);
          if (old?.record !== undefined && old.record.validUntil >= Date.now())
            return { after: entries, result: { pet: old.pet, isReplay: true } };
          const { pet, after } = withPet(given, { caller, key, validUntil: Date.now() + validFor });
          return {
            after: after.map((entry) => (entry === old ? { pet: old.pet } : entry)),
            result: { pet, isReplay: false },
          };
        });
      },
    },
    idempotencyRecords: {
      count: async () => entries.filter(({ record }) => record !== undefined).length,
      removeRecords: (limit) =>
        write(() => {
          const ended = entries
            .filter(({ record }) => record !== undefined && record.validUntil < Date.now())
            .slice(0, limit);
          const after = entries.map((entry) => (ended.includes(entry) ? { pet: entry.pet } : entry));
          return { after: ended.length === 0 ? entries : after, result: ended.length };
        }),
    },
    check: async () => {},
    close: async () => void (await lastWrite),
  };
}

async function load(path: string): Promise<readonly Entry[]> {
  try {
    const stored: readonly (Omit<Entry, 'pet'> & { pet: string })[] = JSON.parse(
      await readFile(path, 'utf8'),
    );
    return stored.map(({ pet, record }) => ({ pet: Object.freeze(parsePet(pet)), record }));
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new AnimalStoreError('storage_unavailable', `${path} cannot be read`, { cause });
  }
}

/** After a crash, the file is the old one or the new one. Each pet is a string in it, because JSON.parse would round an int64. */
async function save(path: string, entries: readonly Entry[]): Promise<void> {
  const text = JSON.stringify(entries.map(({ pet, record }) => ({ pet: petJson(pet), record })));
  try {
    await writeFile(`${path}.new`, text, { flush: true });
    await rename(`${path}.new`, path);
    const folder = await open(dirname(path));
    await folder.sync().finally(() => folder.close());
  } catch (cause) {
    throw new AnimalStoreError('storage_unavailable', `${path} cannot be written`, { cause });
  }
}
