import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { attempt } from '../../../src/adapters/sqlite/errors.ts';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import { ImportPets } from '../../../src/application/import-pets.ts';
import { INT64_MAX } from '../../../src/domain/int64.ts';
import type { NewPet, Pet } from '../../../src/domain/pet.ts';
import { draft } from '../../../src/testing/fixtures/keys.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { importPets } from '../../../src/testing/fixtures/transfers.ts';
import { isNewRow } from '../../support/pets.ts';
import { canMount, mountNote, SmallDisk } from '../../support/small-disk.ts';
import { connect } from '../../support/sqlite.ts';
import {
  addPets,
  countIn,
  MAX,
  newStore,
  openNearEnd,
  openStorage,
  REX,
  temporaryFile,
} from './temporary-file.ts';

/** More pets than are stored in one step. */
const MANY = 45_000;

async function* batchesOf(count: number): AsyncGenerator<readonly NewPet[]> {
  for (let left = count; left > 0; left -= 1000)
    yield Array.from({ length: Math.min(left, 1000) }, () => REX);
}

test('an import of many pets is stored in steps, and no connection sees it before the last one', async () => {
  const path = temporaryFile();
  const { transfer } = openStorage(path);
  const other = connect(path);
  const count = other.prepare('SELECT count(*) FROM pets').pluck();
  const stored: number[] = [];
  await importPets({ transfer }, batchesOf(MANY), {
    onProgress(now) {
      stored.push(now);
      expect(count.get()).toBe(0n);
    },
  });
  expect(stored).toEqual([20_000, 40_000, 45_000]);
  expect(count.get()).toBe(BigInt(MANY));
});

/** SQLite copies the log into the store at 1,000 pages of 4 KiB; one commit may exceed that. */
const LOG_LIMIT = 6 * 1024 * 1024;

const LONG = samplePet('🐈'.repeat(255));

test('an export with a slow consumer holds no snapshot: the write-ahead log does not grow', async () => {
  const path = newStore(600);
  const { transfer } = openStorage(path);
  const exporting = transfer.exportPets()[Symbol.asyncIterator]();
  const { value: first } = await exporting.next();
  // Each step adds 300 KB.
  for (let times = 0; times < 50; times++) {
    addPets(path, 300, LONG);
    expect(statSync(`${path}-wal`).size).toBeLessThan(LOG_LIMIT);
  }
  const ids = first.map(({ id }: Pet) => id);
  for await (const pets of { [Symbol.asyncIterator]: () => exporting }) ids.push(...pets.map(({ id }) => id));
  expect(ids).toEqual(Array.from({ length: 600 }, (_, index) => BigInt(index + 1)));
});

test('an import into a store with few ids left says that the ids are used up, and a dry run says the same', async () => {
  const { transfer, pets } = openNearEnd();
  for (const dryRun of [true, false]) {
    const importing = new ImportPets(transfer).execute(batchesOf(4), { dryRun });
    await expect(importing).rejects.toMatchObject({ reason: 'ids_exhausted' });
  }
  expect((await pets.list({ limit: 9 })).pets).toHaveLength(1);
  expect(await new ImportPets(transfer).execute(batchesOf(3), { dryRun: true })).toBe(3);
  expect(await new ImportPets(transfer).execute(batchesOf(3))).toBe(3);
  expect((await pets.list({ limit: 9 })).pets.at(-1)?.id).toBe(INT64_MAX);
});

test.skipIf(process.platform !== 'linux')(
  'after close, an import has ended and no file of the store is open, whatever step the import was at',
  async () => {
    for (const step of ['reading', 'copying', 'committing']) {
      const path = newStore();
      const storage = openSqliteStorage(path);
      const { promise, resolve: proceed } = Promise.withResolvers<void>();
      const stays = new Promise<never>(() => {});
      const source = (async function* () {
        yield* batchesOf(MANY);
        if (step !== 'reading') return;
        proceed();
        await stays;
      })();
      const onProgress = (count: number) => {
        if (step === 'copying' || count === MANY) proceed();
      };
      const settled = vi.fn();
      void importPets(storage, source, { onProgress }).then(settled, settled);
      await promise;
      // The next step is sent to the thread.
      await nextTurn();
      await storage.close();
      await nextTurn();
      expect([settled.mock.calls.length, openFilesIn(dirname(path))]).toEqual([1, []]);
      const [[result]] = settled.mock.calls as [[unknown]];
      expect([0n, BigInt(MANY)].indexOf(countIn(path))).toBe(result === MANY ? 1 : 0);
    }
  },
);

/** Returns the files of a folder that this process has open. */
function openFilesIn(folder: string): string[] {
  const descriptors = readdirSync('/proc/self/fd').map((name) => `/proc/self/fd/${name}`);
  return descriptors
    .map((name) => attempt(() => readlinkSync(name), ''))
    .filter((file) => file.startsWith(folder));
}

test('close ends the wait for the callback of a first key, which is not stored', async () => {
  const path = newStore();
  const storage = openSqliteStorage(path);
  const { promise, resolve: proceed } = Promise.withResolvers<void>();
  const adding = storage.apiKeys.addFirst(...draft('Anna'), async () => {
    proceed();
    await new Promise(() => {});
  });
  const rejected = expect(adding).rejects.toMatchObject({ code: 'storage_unavailable' });
  await promise;
  await storage.close();
  await rejected;
  expect(readdirSync(dirname(path))).toEqual(['pets.db']);
});

test.skipIf(!canMount)(
  `an import that fills the disk stores nothing, and leaves room for a backup${mountNote}`,
  async () => {
    const path = join(new SmallDisk('2m').folder, 'pets.db');
    const { transfer, pets, backup } = openStorage(path, { startWriter: true });
    await pets.add(REX);
    await expect(importPets({ transfer }, batchesOf(300_000))).rejects.toMatchObject({ reason: 'disk_full' });
    expect(statSync(`${path}-wal`).size).toBe(0);
    await backup?.(`${path}.backup`);
    expect((await pets.list({ limit: 2 })).pets).toHaveLength(1);
    expect((await pets.add(REX)).id).toBe(2n);
  },
);

test('an import whose pets a trigger drops stores nothing, and none twice', async () => {
  const path = newStore();
  connect(path).exec(`CREATE TRIGGER no_sold BEFORE INSERT ON pets WHEN ${isNewRow(MAX)}
    BEGIN SELECT RAISE(IGNORE); END`);
  const { transfer, pets } = openStorage(path);
  const many = (async function* () {
    yield [MAX];
    yield* batchesOf(20_000);
  })();
  await expect(importPets({ transfer }, many)).rejects.toThrow('has dropped a row: nothing was stored');
  expect((await pets.list({ limit: 1 })).pets).toEqual([]);
});
