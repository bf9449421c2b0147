import { expect, test } from 'vitest';
import { changesPage, lastRevisionOf } from '../../../src/adapters/storage-kit/changes-page.ts';
import { storedPet } from '../../../src/domain/pet.ts';
import { REX } from '../../support/pets.ts';

const pet = (id: bigint) => storedPet(id, REX);
const changed = (id: bigint, revision: bigint) => ({ id, revision, pet: pet(id) });
const STORE = { after: 0n, epoch: '0123456789abcdef', lastNumber: 99n };

test('a full page ends at its last version, whatever was examined', () => {
  const read = { ...STORE, limit: 1, changed: [], unchanged: [pet(3n), pet(5n)] };
  expect(changesPage(read)).toMatchObject({ upTo: 3n, more: true });
  expect(changesPage({ ...read, examinedUpTo: 9n })).toMatchObject({ upTo: 3n, more: true });
  expect(changesPage({ ...read, limit: 2 })).toMatchObject({ upTo: 5n, more: false });
});

test('a page that was cut by the bound has no version after it, and can be empty', () => {
  const read = { ...STORE, limit: 5, changed: [changed(1n, 8n)], unchanged: [pet(3n)], examinedUpTo: 7n };
  expect(changesPage(read)).toMatchObject({ versions: [{ id: 3n }], upTo: 7n, more: true });
  expect(changesPage({ ...read, unchanged: [] })).toMatchObject({ versions: [], upTo: 7n, more: true });
  expect(changesPage({ ...read, unchanged: [pet(7n)] }).versions).toMatchObject([{ id: 7n }]);
});

test('pets after the last changed one of a full page need not be read', () => {
  const all = [changed(1n, 4n), changed(2n, 6n)];
  expect([lastRevisionOf(all, 1), lastRevisionOf(all, 2)]).toEqual([4n, undefined]);
});
