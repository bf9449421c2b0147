/** The client of the API creates pets through a proxy that cuts connections, while the server is killed every 300 ms. */

import { expect, test } from 'vitest';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { createThroughKills } from './creates-through-kills.ts';
import { CREATES } from './options.ts';
import { printTable } from './table.ts';

const LIFETIME = 300;
const CONCURRENCY = 32;

test(`${CREATES} pets are stored once each, although the server is killed every ${LIFETIME} ms`, {
  timeout: 120_000 + CREATES * 180,
}, async () => {
  const start = performance.now();
  const load = { pets: CREATES, concurrency: CONCURRENCY, lifetime: LIFETIME };
  const { kills, cuts, created, stored } = await createThroughKills(load);
  printTable('Creates of the client through kills and cuts', [
    ['pets', 'kills', 'cut connections', 'seconds'],
    [stored.length, kills, cuts, Math.round((performance.now() - start) / 1000)],
  ]);
  expect(created, BROKEN_PROMISE).toHaveLength(CREATES);
  expect(stored.toSorted(), BROKEN_PROMISE).toEqual(created.toSorted());
  expect(kills).toBeGreaterThan(0);
  expect(cuts).toBeGreaterThan(0);
});
