import { expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import { ListChanges } from '../../src/application/list-changes.ts';
import type { PetChanges } from '../../src/application/ports/pet-changes.ts';
import { REX } from '../support/pets.ts';
import { refusal } from '../support/refusal.ts';

async function openFeed() {
  const storage = openMemoryStorage();
  const changes = storage.changes as Required<PetChanges>;
  return { ...storage, changes, pet: await storage.pets.add(REX), feed: new ListChanges(changes) };
}

test('a state is a pet or the id of a removed one, and each has the cursor after it', async () => {
  const { pets, changes, feed, pet } = await openFeed();
  const other = await pets.add(REX);
  await changes.remove(pet.id, pet.id);
  const { changes: listed, next, more } = await feed.execute();
  const [first, second] = listed.map(({ cursor }) => cursor);
  expect(listed).toEqual([
    { cursor: first, pet: other },
    { cursor: second, removed: pet.id },
  ]);
  expect(first).toMatch(/^[\x21-\x7e]{1,64}$/);
  expect([next, more]).toEqual([second, false]);
  expect((await feed.execute({ after: first })).changes).toEqual([listed[1]]);
});

test('an empty page has a cursor that goes on', async () => {
  const { pets, feed } = await openFeed();
  const { next } = await feed.execute();
  const empty = await feed.execute({ after: next });
  expect(empty).toEqual({ changes: [], next, more: false });
  const added = await pets.add(REX);
  expect((await feed.execute({ after: empty.next })).changes).toMatchObject([{ pet: added }]);
});

test.each([
  ...['', '7', '0123456789abcdef', '0123456789ABCDEF-1'],
  ...['0123456789abcdef-01', '0123456789abcdef-9223372036854775808', 7, null],
  ['0123456789abcdef-7'],
])('the cursor %j is malformed', async (after) => {
  const { feed } = await openFeed();
  await expect(feed.execute({ after: after as string })).rejects.toThrow(refusal(/^after must be a cursor/));
});

test('a cursor of another epoch, or that was not given out yet, needs a restart', async () => {
  const { changes, feed, pet } = await openFeed();
  const { next } = await feed.execute();
  const [epoch] = String(next).split('-');
  const restart = refusal(/^the cursor is of another epoch .* begin without after/, 'restart_required');
  await expect(feed.execute({ after: `${epoch}-${pet.id + 1n}` })).rejects.toThrow(restart);
  await expect(feed.execute({ after: 'fedcba9876543210-0' })).rejects.toThrow(restart);
  await changes.beginEpoch();
  await expect(feed.execute({ after: next })).rejects.toThrow(restart);
  expect((await feed.execute()).next).not.toBe(next);
});

test('the limit is that of lists', async () => {
  const { feed } = await openFeed();
  for (const limit of [0, 101, 1.5])
    await expect(feed.execute({ limit })).rejects.toThrow(refusal('limit must be an integer from 1 to 100'));
});
