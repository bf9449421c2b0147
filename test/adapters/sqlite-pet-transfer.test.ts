import { statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { openSqliteStorage } from '../../src/adapters/sqlite/storage.ts';
import type { NewPet, Pet } from '../../src/domain/pet.ts';
import { connect, makeStore, openStorage, REX, temporaryFile } from './sqlite-file.ts';

/** More than are stored in one step. */
const MANY = 45_000;

async function* batchesOf(count: number): AsyncGenerator<readonly NewPet[]> {
  for (let left = count; left > 0; left -= 1000)
    yield Array.from({ length: Math.min(left, 1000) }, () => REX);
}

describe('an import of many', () => {
  test('is stored in steps, and seen by nobody before the last one', async () => {
    const path = temporaryFile();
    const { transfer } = openStorage(path);
    const other = connect(path);
    const count = other.prepare('SELECT count(*) FROM pets').pluck();
    const stored: number[] = [];
    await transfer.importPets(batchesOf(MANY), {
      onStored(now) {
        stored.push(now);
        expect(count.get()).toBe(0n);
      },
    });
    expect(stored).toEqual([20_000, 40_000, 45_000]);
    expect(count.get()).toBe(BigInt(MANY));
  });

  test('ends with the signal in the midst of being stored, without a trace', async () => {
    const path = temporaryFile();
    await makeStore(path, 3);
    const { transfer, pets } = openStorage(path);
    const end = new AbortController();
    const importing = transfer.importPets(batchesOf(MANY), {
      onStored: () => end.abort(new Error('that is enough')),
      signal: end.signal,
    });
    await expect(importing).rejects.toThrow('that is enough');
    expect((await pets.list({ limit: 100 })).pets).toHaveLength(3);
    expect((await pets.add(REX)).id).toBe(4n);
  });

  test('waits for another writer, and makes others wait only while it stores', async () => {
    const path = temporaryFile();
    const { transfer, pets } = openStorage(path);
    const added: Pet[] = [];
    const adding: Promise<Pet>[] = [];
    await transfer.importPets(
      (async function* () {
        for await (const batch of batchesOf(MANY)) {
          added.push(await pets.add({ ...REX, name: 'early' }));
          yield batch;
        }
      })(),
      { onStored: () => adding.push(pets.add({ ...REX, name: 'late' })) },
    );
    expect(added.at(-1)?.id).toBe(45n);
    const late = await Promise.all(adding);
    expect(late.map(({ id }) => id)).toEqual([45_046n, 45_047n, 45_048n]);
  });
});

describe('an export whose consumer stalls', () => {
  const LONG = { ...REX, name: 'x'.repeat(255) };

  /** SQLite copies the log into the store at 1,000 pages of 4 KiB; one commit may exceed that. */
  const LOG_LIMIT = 6 * 1024 * 1024;

  async function* oneBatch(count: number): AsyncGenerator<readonly NewPet[]> {
    yield Array.from({ length: count }, () => LONG);
  }

  test.each([[undefined], ['available' as const]])(
    'holds no snapshot: the write-ahead log does not grow (status: %s)',
    async (status) => {
      const path = temporaryFile();
      const { transfer } = openStorage(path);
      await transfer.importPets(oneBatch(5000));
      const exporting = transfer.exportPets({ status })[Symbol.asyncIterator]();
      const { value: first } = await exporting.next();
      let written = 0;
      for (let times = 0; times < 50; times++) {
        await transfer.importPets(oneBatch(1000));
        written += 1000 * LONG.name.length;
        expect(statSync(`${path}-wal`).size).toBeLessThan(LOG_LIMIT);
      }
      expect(written).toBeGreaterThan(2 * LOG_LIMIT);
      const ids = first.map(({ id }: Pet) => id);
      for await (const pets of { [Symbol.asyncIterator]: () => exporting })
        ids.push(...pets.map(({ id }) => id));
      expect(ids).toEqual(Array.from({ length: 5000 }, (_, index) => BigInt(index + 1)));
    },
  );

  test('of an empty store gives nothing, whatever is added afterwards', async () => {
    const { transfer, pets } = openStorage();
    const exporting = transfer.exportPets()[Symbol.asyncIterator]();
    const first = exporting.next();
    await pets.add(REX);
    expect(await first).toEqual({ done: true, value: undefined });
  });
});

test('what the driver throws comes in the words of the core', async () => {
  const path = temporaryFile();
  await makeStore(path);
  const { transfer } = openStorage(path);
  connect(path).exec('DROP TABLE pets');
  await expect(transfer.importPets(batchesOf(1))).rejects.toMatchObject({ name: 'AnimalStoreError' });
  await expect(transfer.exportPets()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    name: 'AnimalStoreError',
  });
});

test('ids are not kept in a store whose animals are gone: they would be given twice', async () => {
  const path = temporaryFile();
  await makeStore(path, 2);
  connect(path).exec('DELETE FROM pets');
  const batches = (async function* () {
    yield [{ ...REX, id: 1n }];
  })();
  await expect(openStorage(path).transfer.importPets(batches)).rejects.toMatchObject({
    code: 'invalid_request',
  });
});

describe('a storage for an errand', () => {
  const errand = { mustExist: true, startWriter: false };

  test('refuses a file that is missing, and makes none', async () => {
    const path = temporaryFile();
    expect(() => openSqliteStorage(path, errand)).toThrow(`${path}: there is no such file`);
    expect(() => openSqliteStorage(path, errand)).toThrow(
      expect.objectContaining({ code: 'storage_unavailable' }),
    );
  });

  test('opens and reads while another process holds the lock for writing', async () => {
    const path = temporaryFile();
    await makeStore(path, 2);
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const storage = openSqliteStorage(path, errand);
    expect((await storage.pets.list({ limit: 100 })).pets).toHaveLength(2);
    await storage.close();
    other.exec('ROLLBACK');
  });

  test('writes all the same', async () => {
    const path = temporaryFile();
    await makeStore(path);
    const storage = openSqliteStorage(path, errand);
    expect((await storage.pets.add(REX)).id).toBe(1n);
    await storage.close();
  });
});
