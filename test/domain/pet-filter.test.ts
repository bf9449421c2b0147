import { expect, test } from 'vitest';
import { ATTRIBUTES, PET_ATTRIBUTES } from '../../src/domain/pet.ts';
import { matches, PET_FILTERS, readFilter } from '../../src/domain/pet-filter.ts';
import { filterablePets, SAMPLE_FILTERS } from '../../src/testing/fixtures/filters.ts';

test('the filters are the attributes with the mark', () => {
  expect(PET_FILTERS).toEqual(PET_ATTRIBUTES.filter((name) => ATTRIBUTES[name].filter));
});

test.each(SAMPLE_FILTERS)('%o matches the pets that have its values', (filter) => {
  for (const pet of filterablePets(100)) {
    const differing = Object.entries(filter).filter(
      ([name, value]) => value !== undefined && value !== pet[name as keyof typeof pet],
    );
    expect(matches(pet, filter)).toBe(differing.length === 0);
  }
});

test('a filter has the values of a query, and no other members', () => {
  for (const filter of SAMPLE_FILTERS)
    expect(readFilter({ ...filter, limit: 7, after: 7n } as never)).toEqual({ filter, faults: [] });
});
