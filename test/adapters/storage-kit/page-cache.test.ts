import { expect, test } from 'vitest';
import { PageCache } from '../../../src/adapters/storage-kit/page-cache.ts';
import type { PetPage } from '../../../src/application/ports/pet-repository.ts';
import { ATTRIBUTES, type NewPet, PET_ATTRIBUTES } from '../../../src/domain/pet.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';

const page = (pet: NewPet = samplePet('x'), count = 1): PetPage => ({
  pets: Array.from({ length: count }, () => ({ ...pet, id: 1n })),
  more: false,
});

/** Each text has its greatest length. */
const LONG = samplePet('x'.repeat(100_000));
const CODE_UNITS = PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].kind === 'text').reduce(
  (sum, name) => sum + String(LONG[name]).length,
  0,
);

test('a page that replaces another is counted once', () => {
  const cache = new PageCache();
  cache.enter(1);
  cache.set('small', page());
  for (let times = 0; times < 1000; times++) cache.set('large', page(LONG, 100));
  expect(cache.get('small')).toBeDefined();
});

test('the cache is emptied when its pages have more than 12 MiB', () => {
  const cache = new PageCache();
  cache.enter(1);
  const large = page(LONG, 100);
  let count = 0;
  for (; cache.get('0') !== undefined || count === 0; count++) cache.set(`${count}`, large);
  // A pet counts as 320 bytes, and 6 bytes for each code unit of each of its texts; a page as 500 bytes.
  expect(count).toBe(Math.floor((12 * 1024 * 1024) / (500 + 100 * (320 + 6 * CODE_UNITS))) + 1);
  expect(cache.get(`${count - 1}`)).toBe(large);
});
