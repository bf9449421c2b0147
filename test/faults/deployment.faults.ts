/** Restarts two servers behind nginx in turn, under load. No request may fail. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { randomNumbers } from '../../src/testing/random.ts';
import { freePort } from '../support/free-port.ts';
import { temporaryFolder } from '../support/process.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { ClientGroup, createOf, LIST, UNCHECKED } from './client/clients.ts';
import { exportOf } from './commands.ts';
import { hasNginx, startNginx } from './nginx.ts';
import { RESTARTS, SEED } from './options.ts';
import { startFaultsServer } from './server.ts';
import { printTable } from './table.ts';

/**
 * More clients than nginx keeps connections to a server. Half of them pause between two requests, for at most
 * {@link MAX_PAUSE} milliseconds.
 */
const CLIENTS = 96;
const MAX_PAUSE = 300;

test.skipIf(!hasNginx)(
  `two servers behind nginx are restarted ${RESTARTS} times each under load: no request fails${hasNginx ? '' : ' (skipped: nginx is not installed)'}`,
  { timeout: 120_000 + RESTARTS * 60_000 },
  async () => {
    const random = randomNumbers(SEED);
    const folder = temporaryFolder();
    const ports = [await freePort(), await freePort()] as const;
    const start = (turn: number) => startFaultsServer({ folder, port: ports[turn] as number });
    const servers = [await start(0), await start(1)];
    const nginx = await startNginx({ servers: ports, isLimited: false });
    const group = new ClientGroup({
      origin: nginx.origin,
      clients: CLIENTS,
      check: UNCHECKED,
      next: (client, count) => {
        const name = `${client}.${count}`;
        if (count % 2 === 1) return LIST;
        return createOf(name, count % 4 === 0 ? { 'Idempotency-Key': name } : {});
      },
      pause: (client) => (client % 2 === 0 ? 0 : random(MAX_PAUSE)),
    });
    await group.untilConnected();
    const stopTimes: number[] = [];
    for (let restart = 0; restart < 2 * RESTARTS; restart++) {
      await sleep(500 + random(1000));
      const turn = restart % 2;
      const begin = performance.now();
      expect(await servers[turn]?.stop()).toEqual({ code: 0, signal: null });
      stopTimes.push(Math.round(performance.now() - begin));
      servers[turn] = await start(turn);
    }
    await sleep(500);
    const { requests, failures, pets } = await group.stop();
    printTable(`Two servers behind nginx, seed ${SEED}`, [
      ['restarts', 'requests', 'failed', 'longest stop ms'],
      [2 * RESTARTS, requests, failures.length, Math.max(...stopTimes)],
    ]);
    const errors = failures.length > 0 ? nginx.errors() : '';
    expect({ failures, errors }).toEqual({ failures: [], errors: '' });
    for (const server of servers) expect(await server.stop()).toEqual({ code: 0, signal: null });
    expect((await exportOf(folder)).toSorted(), BROKEN_PROMISE).toEqual(pets.toSorted());
    expect(requests).toBeGreaterThan(RESTARTS * CLIENTS);
  },
);
