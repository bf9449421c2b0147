/** Stores pets in a JSON file, which is rewritten for each new pet: for hundreds of pets, not for millions. */

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
  type PetRepository,
} from 'animal-store';

/** The record of an idempotency key. */
interface Entry {
  readonly caller: string;
  readonly key: string;
  readonly validUntil: number;
  readonly petId: bigint;
}

/** What the file has. */
interface Data {
  readonly pets: readonly Pet[];
  readonly records: readonly Entry[];
}

export interface JsonFile {
  readonly pets: PetRepository;
  readonly idempotentCreates: IdempotentCreates;
  readonly idempotencyRecords: IdempotencyRecords;
  close(): Promise<void>;
}

export async function openJsonFile(path: string): Promise<JsonFile> {
  let data = await load(path);
  let lastWrite: Promise<unknown> = Promise.resolve();

  /** A transaction: one at a time, so that ids ascend. Nobody reads the new data before it is durable. */
  function transact<Result>(change: () => readonly [Data, Result]): Promise<Result> {
    const written = lastWrite.then(async () => {
      const [changed, result] = change();
      if (changed !== data) await save(path, changed);
      data = changed;
      return result;
    });
    lastWrite = written.catch(() => {});
    return written;
  }

  function withPet({ name, categoryId, status }: NewPet): readonly [Data, Pet] {
    const pet = Object.freeze({ id: (data.pets.at(-1)?.id ?? 0n) + 1n, name, categoryId, status });
    return [{ ...data, pets: [...data.pets, pet] }, pet];
  }

  const find = (id: bigint) => data.pets.find((pet) => pet.id === id);

  return {
    pets: {
      add: ({ ...newPet }) => transact(() => withPet(newPet)),
      find: async (id) => find(id),
      async list({ limit, status, after = INT64_MIN }) {
        const found = data.pets.filter(
          (pet) => pet.id > after && (status === undefined || pet.status === status),
        );
        return Object.freeze({ pets: Object.freeze(found.slice(0, limit)), more: found.length > limit });
      },
    },

    idempotentCreates: {
      add: ({ ...newPet }, { caller, key, at, validUntil }) =>
        transact<CreateResult>(() => {
          const isOfKey = (entry: Entry) => entry.caller === caller && entry.key === key;
          const record = data.records.find(isOfKey);
          if (record !== undefined && record.validUntil >= at) {
            const pet = find(record.petId);
            if (pet === undefined)
              throw new AnimalStoreError('internal_error', `pet ${record.petId} was removed`);
            return [data, { pet, isReplay: true }];
          }
          const [{ pets, records }, pet] = withPet(newPet);
          const others = records.filter((entry) => !isOfKey(entry));
          return [
            { pets, records: [...others, { caller, key, validUntil, petId: pet.id }] },
            { pet, isReplay: false },
          ];
        }),
    },

    idempotencyRecords: {
      count: async () => data.records.length,
      removeRecords: (now, limit) =>
        transact(() => {
          const byEnd = data.records.toSorted((one, other) => one.validUntil - other.validUntil);
          const ended = byEnd.filter(({ validUntil }) => validUntil < now).slice(0, limit);
          return [{ ...data, records: data.records.filter((entry) => !ended.includes(entry)) }, ended.length];
        }),
    },

    close: async () => void (await lastWrite),
  };
}

async function load(path: string): Promise<Data> {
  const text = await readFile(path, 'utf8').catch((cause) => {
    if (cause.code === 'ENOENT') return '{"pets":[],"records":[]}';
    throw new AnimalStoreError('storage_unavailable', `${path} cannot be read`, { cause });
  });
  const { pets, records } = JSON.parse(text);
  return {
    pets: pets.map((pet: { id: string; categoryId: string }) =>
      Object.freeze({ ...pet, id: BigInt(pet.id), categoryId: BigInt(pet.categoryId) } as Pet),
    ),
    records: records.map((entry: { petId: string }) => ({ ...entry, petId: BigInt(entry.petId) }) as Entry),
  };
}

/** After a crash, the file is the old one or the new one. An int64 is written as text: JSON.parse would round it. */
async function save(path: string, data: Data): Promise<void> {
  const text = JSON.stringify(data, (_, value) => (typeof value === 'bigint' ? String(value) : value));
  try {
    await writeFile(`${path}.new`, text, { flush: true });
    await rename(`${path}.new`, path);
    const folder = await open(dirname(path));
    await folder.sync().finally(() => folder.close());
  } catch (cause) {
    throw new AnimalStoreError('storage_unavailable', `${path} cannot be written`, { cause });
  }
}
