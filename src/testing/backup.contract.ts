/** The tests (contract cases) of `StoreStorage` for backups. */

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { BackupContents, BackupOptions } from '../application/ports/maintenance.ts';
import type { StoreStorage } from '../application/ports/storage.ts';
import { type ContractCase, contractCase, type Opened, type Subject } from './contract.ts';
import { attributesOf, draft } from './fixtures/keys.ts';
import { addAll, samplePet, samplePets, walk } from './fixtures/pets.ts';

/** The storage under test: the functions with which the tests open it. */
export interface StorageSubject extends Subject<StoreStorage> {
  /** Opens a backup file as a storage. An adapter that does not support backups leaves out this function. */
  readonly openBackup?: ((file: string) => Promise<Opened<StoreStorage>>) | undefined;
}

/** Returns the tests for backups, or an empty list when the storage under test does not support backups. */
export function backingUp(subject: StorageSubject): ContractCase[] {
  const { openBackup } = subject;
  if (openBackup === undefined) return [];

  /**
   * Creates a test with a storage that contains pets and a key. `body` gets the path for the backup (`file`), and its
   * parent folder, which is empty (`folder`).
   */
  const backupCase = (
    name: string,
    body: (storage: StoreStorage, file: string, folder: string) => Promise<void>,
  ): ContractCase =>
    contractCase(subject, name, async (storage) => {
      await addAll(storage.pets, samplePets(5));
      await storage.apiKeys?.add(...draft('Anna'));
      const folder = await mkdtemp(join(tmpdir(), 'animal-store-backup-'));
      await body(storage, join(folder, 'copy'), folder).finally(() => rm(folder, { recursive: true }));
    });

  const all = { limit: 100 };
  const assertCopy = async (storage: StoreStorage, file: string) => {
    const copy = await openBackup(file);
    try {
      assert.deepEqual(await walk(copy.port.pets, all), await walk(storage.pets, all));
      const keys = (await storage.apiKeys?.list())?.map(attributesOf);
      assert.deepEqual((await copy.port.apiKeys?.list())?.map(attributesOf), keys);
    } finally {
      await copy.close();
    }
  };

  return [
    backupCase('a backup contains all pets and keys, and reports its progress', async (storage, file) => {
      await backUp(storage, file);
      await assertCopy(storage, file);
      const fractions: number[] = [];
      const onProgress = (fraction: number) => fractions.push(fraction);
      await backUp(storage, file, { overwrite: true, onProgress });
      assert.ok(
        fractions.length > 0 && fractions.every((fraction) => fraction >= 0 && fraction <= 1),
        `expected fractions from 0 to 1, got ${fractions}`,
      );
    }),

    backupCase('a backup has the changes, and an epoch of its own', async (storage, file) => {
      const { changes } = storage;
      if (changes === undefined) return;
      const [first, second] = (await storage.pets.list({ limit: 2 })).pets;
      const { id = 0n } = first ?? {};
      await changes.replace({ ...samplePet('changed'), id }, id);
      await changes.remove(second?.id ?? 0n, second?.id ?? 0n);
      const { epoch, ...feed } = await changes.list({ limit: 100 });
      const epochs = new Set([epoch]);
      for (const each of [file, `${file}-2`]) {
        await backUp(storage, each);
        const copy = await openBackup(each);
        const { epoch: own, ...copied } = (await copy.port.changes?.list({ limit: 100 })) ?? { epoch };
        await copy.close();
        assert.deepEqual(copied, feed);
        epochs.add(own);
      }
      assert.equal(epochs.size, 3, 'expected another epoch in each backup');
    }),

    backupCase('others can write during a backup, and the storage works after it', async (storage, file) => {
      const adding = addAll(storage.pets, samplePets(50));
      await backUp(storage, file);
      const added = [...(await adding), await storage.pets.add(samplePet('after'))];
      for (const pet of added) assert.deepEqual(await storage.pets.find(pet.id), pet);
    }),

    backupCase('a verified backup is checked, and the store keeps its time', async (storage, file) => {
      const lastId = (await storage.pets.list({ limit: 100 })).pets.at(-1)?.id;
      const found: BackupContents[] = [];
      await backUp(storage, file, { onVerified: (contents) => found.push(contents) });
      assert.deepEqual(found, [{ pets: 5, apiKeys: storage.apiKeys ? 1 : 0, lastId, problems: [] }]);
      await assertCopy(storage, file);
      const adding = addAll(storage.pets, samplePets(50));
      await backUp(storage, file, { overwrite: true, onVerified: (contents) => found.push(contents) });
      await adding;
      assert.equal(found.length, 2);
    }),

    backupCase('a backup replaces an existing file only with `overwrite`', async (storage, file) => {
      await writeFile(file, 'content');
      await assert.rejects(backUp(storage, file), { code: 'invalid_request' });
      assert.equal(await readFile(file, 'utf8'), 'content');
      await backUp(storage, file, { overwrite: true });
      await assertCopy(storage, file);
    }),

    backupCase('an aborted backup leaves no file', async (storage, file, folder) => {
      await addAll(storage.pets, samplePets(1000));
      const reason = new Error('the reason of the abort');
      await assert.rejects(backUp(storage, file, { signal: AbortSignal.abort(reason) }), reason);
      assert.deepEqual(await readdir(folder), []);
      const controller = new AbortController();
      const onProgress = () => controller.abort(reason);
      await assert.rejects(backUp(storage, file, { signal: controller.signal, onProgress }), reason);
      assert.deepEqual(await readdir(folder), []);
    }),

    backupCase('close ends a running backup, which leaves no file', async (storage, file, folder) => {
      await addAll(storage.pets, samplePets(1000));
      await writeFile(file, 'content');
      const started = Promise.withResolvers<void>();
      const onProgress = () => started.resolve();
      const { signal } = new AbortController();
      const rejected = assert.rejects(backUp(storage, file, { overwrite: true, onProgress, signal }), {
        code: 'storage_unavailable',
      });
      await started.promise;
      await storage.close();
      assert.deepEqual(await readdir(folder), [basename(file)]);
      assert.equal(await readFile(file, 'utf8'), 'content');
      await rejected;
    }),

    backupCase('a backup rejects with storage_unavailable after close', async (storage, file, folder) => {
      await storage.close();
      await assert.rejects(backUp(storage, file), { code: 'storage_unavailable' });
      assert.deepEqual(await readdir(folder), []);
    }),
  ];
}

async function backUp(storage: StoreStorage, file: string, options?: BackupOptions): Promise<void> {
  assert.ok(storage.backup, 'expected a storage that supports backups');
  await storage.backup(file, options);
}
