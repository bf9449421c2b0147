import { expect, test } from 'vitest';
import { listQuery } from '../../src/application/list-pets.ts';
import type { PetQuery } from '../../src/application/ports/pet-repository.ts';
import { SAMPLE_FILTERS } from '../../src/testing/fixtures/filters.ts';

const QUERIES: readonly PetQuery[] = SAMPLE_FILTERS.flatMap((filter) =>
  [1, 11].flatMap((limit) => [undefined, -1n, 1n, 11n].map((after) => ({ ...filter, limit, after }))),
);

test('a list query has each parameter, so different queries have different texts', () => {
  for (const query of QUERIES) {
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const text = given.map(([name, value]) => [name, String(value)]);
    expect([...new URLSearchParams(listQuery(query))].sort()).toEqual(text.sort());
  }
});
