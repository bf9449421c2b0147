import { expect, test } from 'vitest';
import { examineSqliteStore, restoreSqliteStore } from '../../../src/adapters/sqlite/index.ts';
import { EXAMINED_LIMIT } from '../../../src/adapters/storage-kit/changes-page.ts';
import { ListChanges } from '../../../src/application/list-changes.ts';
import type { IdempotentChanges } from '../../../src/application/ports/idempotent-changes.ts';
import type { PetChanges } from '../../../src/application/ports/pet-changes.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import { INT64_MAX } from '../../../src/domain/int64.ts';
import { insertPet } from '../../support/pets.ts';
import { connect } from '../../support/sqlite.ts';
import { addPets, MAX, openStorage, REX, temporaryFile } from './temporary-file.ts';

const changesOf = ({ changes }: Storage) => changes as Required<PetChanges>;
const writesOf = ({ idempotentChanges }: Storage) => idempotentChanges as IdempotentChanges;

test('a page examines a bounded number of pets, and those behind it follow', async () => {
  const path = temporaryFile();
  const changes = changesOf(openStorage(path));
  const pets = EXAMINED_LIMIT + 50;
  addPets(path, pets, REX);
  const db = connect(path);
  db.exec(`INSERT INTO pet_revisions (pet_id, revision) SELECT id, id + 1000000 FROM pets WHERE id < ${pets};
    UPDATE sqlite_sequence SET seq = 1000000 + ${pets}`);
  db.close();
  const first = await changes.list({ limit: 2 });
  expect(first).toMatchObject({ versions: [], upTo: BigInt(EXAMINED_LIMIT), more: true });
  const second = await changes.list({ limit: 2, after: first.upTo });
  expect(second.versions.map(({ id }) => id)).toEqual([BigInt(pets), 1n]);
});

test('when all numbers have been assigned, a change is refused, and changes nothing', async () => {
  const path = temporaryFile();
  const storage = openStorage(path);
  const pet = await storage.pets.add(REX);
  connect(path).exec(`UPDATE sqlite_sequence SET seq = ${INT64_MAX} WHERE name = 'pets'`);
  const exhausted = { code: 'storage_unavailable', reason: 'ids_exhausted' };
  const changed = { ...pet, ...MAX };
  const attempt = { caller: '1', key: 'a', validFor: 1000, request: 'change' };
  await expect(changesOf(storage).replace(changed, pet.id)).rejects.toMatchObject(exhausted);
  await expect(changesOf(storage).remove(pet.id, pet.id)).rejects.toMatchObject(exhausted);
  await expect(writesOf(storage).replace(changed, pet.id, attempt)).rejects.toMatchObject(exhausted);
  expect(await storage.pets.find(pet.id)).toEqual(pet);
  expect(await storage.idempotencyRecords.count()).toBe(0);
});

test('a follower is told of each restore, also of one backup twice, and no number is assigned again', async () => {
  const [path, backup] = [temporaryFile(), temporaryFile()];
  const before = openStorage(path);
  const pet = await before.pets.add(REX);
  await before.backup?.(backup);
  const revision = (await changesOf(before).replace({ ...pet, ...MAX }, pet.id)) ?? 0n;
  let { next } = await new ListChanges(changesOf(before)).execute();
  await before.close();
  for (let restore = 0; restore < 2; restore += 1) {
    await restoreSqliteStore(path, backup, { overwrite: true });
    const storage = openStorage(path);
    const feed = new ListChanges(changesOf(storage));
    await expect(feed.execute({ after: next })).rejects.toMatchObject({ code: 'restart_required' });
    const added = await storage.pets.add(REX);
    expect(added.id > revision).toBe(true);
    const page = await feed.execute();
    expect(page.changes).toMatchObject([{ pet }, { pet: added }].slice(0, 2));
    next = page.next;
    await storage.close();
  }
});

test('a record of an older release falls back to the stored pet, and is of no other request', async () => {
  const path = temporaryFile();
  const storage = openStorage(path);
  const attempt = { caller: '1', key: 'a', validFor: 100_000 };
  const { pet } = await storage.idempotentCreates.add(REX, attempt);
  const db = connect(path);
  db.exec('UPDATE idempotency_records SET request = NULL, response = NULL');
  const retry = () => storage.idempotentCreates.add(REX, attempt);
  expect(await retry()).toEqual({ pet, isReplay: true });
  const { record } = await writesOf(storage).find(pet.id, { ...attempt, request: 'change' });
  expect(record).toEqual({ request: undefined, pet: undefined });
  await changesOf(storage).remove(pet.id, pet.id);
  await expect(retry()).rejects.toMatchObject({ code: 'idempotency_conflict' });
});

test('a record that an older release has renewed, beside a newer one, is of the pet of that release', async () => {
  const path = temporaryFile();
  const storage = openStorage(path);
  const attempt = { caller: '1', key: 'a', validFor: 100_000 };
  await storage.idempotentCreates.add(MAX, attempt);
  connect(path).exec(`${insertPet({ id: 7n })} UPDATE idempotency_records SET pet_id = 7`);
  expect(await storage.idempotentCreates.add(REX, attempt)).toEqual({
    pet: { id: 7n, ...REX },
    isReplay: true,
  });
});

test.each([
  ['INSERT', (storage: Storage) => storage.pets.add(REX)],
  [
    'INSERT',
    ({ idempotentCreates }: Storage) => idempotentCreates.add(REX, { caller: '1', key: 'a', validFor: 1000 }),
  ],
  ['UPDATE', (storage: Storage) => changesOf(storage).replace({ id: 1n, ...MAX }, 1n)],
  ['DELETE', (storage: Storage) => changesOf(storage).remove(1n, 1n)],
] as const)('a write whose %s a trigger of the operator drops is not confirmed', async (statement, write) => {
  const path = temporaryFile();
  const storage = openStorage(path);
  const pet = await storage.pets.add(REX);
  connect(path).exec(`CREATE TRIGGER drop_all BEFORE ${statement} ON pets BEGIN SELECT RAISE(IGNORE); END`);
  await expect(write(storage)).rejects.toMatchObject({
    code: 'internal_error',
    message: 'a trigger of the database has dropped a row: nothing was stored',
  });
  expect((await storage.pets.list({ limit: 9 })).pets).toEqual([pet]);
  expect((await changesOf(storage).find(pet.id))?.revision).toBe(pet.id);
  expect(await storage.idempotencyRecords.count()).toBe(0);
});

test('after changes and removals, nothing is wrong with the store and its backup', async () => {
  const [path, backup] = [temporaryFile(), temporaryFile()];
  const storage = openStorage(path);
  const [pet, other] = [await storage.pets.add(REX), await storage.pets.add(REX)];
  await changesOf(storage).replace({ ...pet, ...MAX }, pet.id);
  const lastId = await changesOf(storage).remove(other.id, other.id);
  await storage.backup?.(backup);
  for (const each of [path, backup])
    expect(examineSqliteStore(each)).toMatchObject({ pets: 1, lastId, isSound: true, problems: [] });
  await storage.close();
  const restored = await restoreSqliteStore(path, backup, { overwrite: true });
  expect(restored).toMatchObject({ pets: 1 });
  expect(examineSqliteStore(path)).toMatchObject({ pets: 1, lastId, problems: [] });
});
