import { expect, test } from 'vitest';
import { createThroughKills } from '../../support/creates-through-kills.ts';

test('each pet is created once, although the server is killed and connections are cut', {
  timeout: 120_000,
}, async () => {
  const load = { pets: 500, concurrency: 16, lifetime: 400 };
  const { kills, cuts, created, stored } = await createThroughKills(load);
  expect(created).toHaveLength(load.pets);
  expect(stored.toSorted()).toEqual(created.toSorted());
  expect(kills).toBeGreaterThan(0);
  expect(cuts).toBeGreaterThan(0);
});
