/** The clock of the machine jumps ten years forwards and back while clients read and create. */

import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Answer, Client } from '../support/client.ts';
import { canFaultDisk, faultyClock, faultyDiskNote } from '../support/faults.ts';
import { OPERATOR_KEY, temporaryFolder } from '../support/process.ts';
import { connect } from '../support/sqlite.ts';
import { ClientGroup, createOf, FIGURES, LIST } from './client/clients.ts';
import { createKey } from './commands.ts';
import { FaultsServer } from './server.ts';
import { printTable } from './table.ts';

const DAY = 24 * 60 * 60 * 1000;
const TEN_YEARS = 3652 * DAY;

test.skipIf(!canFaultDisk)(
  `the clock jumps ten years forwards and back: no request fails, and keys and records expire by the clock${faultyDiskNote}`,
  async () => {
    const clock = faultyClock();
    const folder = temporaryFolder();
    const server = await FaultsServer.start({ logLevel: 'info', folder, env: clock.env });
    const client = server.client;
    const [expiringKey] = await createKey(folder, 'expires', '--expires', '90d');
    const [lastingKey] = await createKey(folder, 'lasts');
    const expiring = server.clientWith(expiringKey);
    const lasting = server.clientWith(lastingKey);
    const statusWith = async (holder: Client) => (await holder.get('/v1/pets?limit=1')).status;
    const statuses = async () => [await statusWith(expiring), await statusWith(lasting)];
    const create = (key: string): Promise<Answer> =>
      client.post({ name: key, categoryId: 1 }, { 'Idempotency-Key': key });
    const isReplay = async (key: string, first: Answer): Promise<boolean> => {
      const again = await create(key);
      expect(again.status).toBe(201);
      const isSame = again.headers['idempotency-replayed'] === 'true';
      expect(again.body === first.body).toBe(isSame);
      return isSame;
    };
    const expectSound = async (year: number) => {
      for (const target of ['/livez', '/readyz']) expect((await client.get(target)).status).toBe(200);
      await client.get('/v1/pets?limit=1', { 'X-Request-Id': `in-${year}` });
      const found = () => server.out.stderr.split('\n').find((line) => line.includes(`"in-${year}"`));
      await expect.poll(found).toMatch(`"time":"${year}-`);
    };
    const group = new ClientGroup({
      origin: server.origin,
      key: OPERATOR_KEY,
      clients: 4,
      next: (number, count) => (count % 2 === 0 ? createOf(`load ${number}.${count}`) : LIST),
      pause: () => 5,
    });
    const year = new Date().getFullYear();
    const other = connect(join(folder, 'pets.db'));

    const before = await create('before');
    expect(before.status).toBe(201);
    expect(await statuses()).toEqual([200, 200]);
    await expectSound(year);

    // A create waits for a lock while the clock jumps.
    other.exec('BEGIN IMMEDIATE');
    const waiting = create('waiting');
    await sleep(100);
    clock.setAhead(TEN_YEARS);
    await sleep(300);
    other.exec('ROLLBACK');
    expect((await waiting).status).toBe(201);
    expect(await statuses()).toEqual([401, 200]);
    const ahead = await create('ahead');
    expect(await isReplay('ahead', ahead)).toBe(true);
    expect(await isReplay('before', before)).toBe(false);
    await expectSound(year + 10);
    await sleep(1500);

    clock.setAhead(0);
    expect(await statuses()).toEqual([200, 200]);
    expect(await isReplay('ahead', ahead)).toBe(true);
    const present = await create('present');
    expect(await isReplay('present', present)).toBe(true);
    await sleep(1500);

    clock.setAhead(-TEN_YEARS);
    expect(await statuses()).toEqual([200, 200]);
    expect(await isReplay('present', present)).toBe(true);
    const behind = await create('behind');
    expect(await isReplay('behind', behind)).toBe(true);
    await expectSound(year - 10);
    await sleep(1500);
    const outcomes = await group.stop();
    const { requests, failures } = outcomes;

    // The checks of the storage continue, although the clock was set back.
    const path = join(folder, 'pets.db');
    renameSync(path, `${path}.away`);
    await expect.poll(async () => (await client.get('/readyz')).body).toContain('file_missing');
    renameSync(`${path}.away`, path);
    await expect.poll(async () => (await client.get('/readyz')).status).toBe(200);

    clock.setAhead(0);
    expect(await isReplay('present', present)).toBe(true);
    printTable('The clock jumps ten years forwards and back', [
      ['requests', 'failed', ...FIGURES],
      [requests, failures.length, ...outcomes.figures()],
    ]);
    expect(failures).toEqual([]);
    expect(server.out.stderr.match(/"msg":"the storage/g)).toHaveLength(2);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  },
);
