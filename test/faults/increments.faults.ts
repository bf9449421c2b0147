/** Kills two servers behind nginx in turn, while clients of `changePet` increment numbers of pets, and create and remove others. */

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { randomNumbers } from '../../src/testing/random.ts';
import { freePort } from '../support/free-port.ts';
import { CHANGING_SETTINGS } from '../support/lifecycle.ts';
import { CountingClients } from './client/counting.ts';
import { hasNginx, startNginx } from './nginx.ts';
import { ROUNDS, SEED } from './options.ts';
import { startFaultsServer } from './server.ts';
import { STORES } from './stores.ts';
import { printTable } from './table.ts';

/** The minimum number of increments that the clients make. */
const INCREMENTS = 100;
const note = hasNginx ? '' : ' (skipped: nginx is not installed)';

describe.each(STORES)(`two servers behind nginx on $name${note}`, ({ name, newUrl, canRun }) => {
  test.skipIf(!canRun || !hasNginx)(
    `each confirmed increment is made exactly once through ${ROUNDS} kills`,
    { timeout: 240_000 + ROUNDS * 20_000 },
    async () => {
      const random = randomNumbers(SEED);
      const env = { DATABASE_URL: await newUrl(), ...CHANGING_SETTINGS };
      const ports = [await freePort(), await freePort()];
      const start = (turn: number) => startFaultsServer({ env, port: ports[turn] as number });
      const servers = [await start(0), await start(1)];
      const nginx = await startNginx({ servers: ports, isLimited: false });
      const counting = await CountingClients.start([nginx.origin]);
      for (let round = 0; round < ROUNDS; round += 1) {
        await counting.untilChanged(1);
        await sleep(random(500));
        expect(await servers[round % 2]?.kill()).toEqual({ code: null, signal: 'SIGKILL' });
        servers[round % 2] = await start(round % 2);
      }
      await counting.untilChanged(Math.max(1, INCREMENTS - counting.changes));
      await counting.expectExact();
      const { changes, removed, cutOff, replays } = counting;
      printTable(`Increments behind nginx: ${name}`, [
        ['kills', 'increments', 'removed', 'status 502', 'replays'],
        [ROUNDS, changes, removed, cutOff, replays],
      ]);
      expect(replays).toBeGreaterThan(0);
      for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null });
    },
  );
});
