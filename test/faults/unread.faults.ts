/** Lets hundreds of clients request full pages that they never read, while another client sends valid requests. */

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BIN, RUNTIME, THREADS } from '../support/process.ts';
import { OPERATOR } from './keys.ts';
import { PIPELINED, UNREAD } from './options.ts';
import { FaultsServer, hasProc, newFolder, storeOf } from './server.ts';
import type { GoodLoad, GoodResult } from './soak/good-load.ts';
import { Helper } from './soak/helper.ts';
import { Watch, type Watched } from './soak/watch.ts';
import { printTable } from './table.ts';

/**
 * In MB: the limit of the server. Most responses to the same request share their bytes, and take less. Each further thread
 * has garbage of its own.
 */
const MEMORY_LIMIT = 128 + 40 * (THREADS - 1);

/** The number of pages that each client requests. */
const PAGES = Math.min(16, PIPELINED);

/** In seconds, after all connections are open. */
const SECONDS = 5;

const CLIENTS = join(import.meta.dirname, 'crowd/unread.py');

/** A page of these pets has 104 KB. */
const NAME = '\u{1f408}'.repeat(255);

const isPossible = hasProc && spawnSync('python3', ['--version']).status === 0;

const TIMEOUT = { timeout: 120_000 };

describe.skipIf(!isPossible)(
  `${UNREAD} clients that never read (skipped without /proc or Python)`,
  TIMEOUT,
  () => {
    let server: FaultsServer;
    let closed = 0;
    let good: GoodResult;
    let watched: Watched;
    let memory = 0;

    beforeAll(async () => {
      const folder = newFolder();
      const pets = `${JSON.stringify({ name: NAME, categoryId: 7 })}\n`.repeat(100);
      execFileSync(RUNTIME, [BIN, 'import', '--create-store', '-'], {
        env: storeOf(folder),
        input: pets,
        stdio: 'pipe',
      });
      server = await FaultsServer.start({ logLevel: 'info', folder });
      await sleep(1000);
      memory = server.memory() ?? 0;
      const watch = new Watch(server);
      const load: GoodLoad = { port: server.port, key: OPERATOR, perSecond: 100, name: 'good' };
      const goodLoad = new Helper<GoodResult>('good-load.ts', JSON.stringify(load));
      const clients = spawn('python3', [
        CLIENTS,
        String(server.port),
        OPERATOR,
        String(UNREAD),
        String(PAGES),
      ]);
      const lines = createInterface(clients.stdout)[Symbol.asyncIterator]();
      expect(await lines.next()).toMatchObject({ value: 'opened' });
      await sleep(SECONDS * 1000);
      clients.stdin.end();
      closed = Number((await lines.next()).value);
      good = await goodLoad.stop();
      watched = await watch.stop();
      printTable('Unread responses', [
        ['connections, closed by the server', `${UNREAD}, ${closed}`],
        ['memory at rest, its peak', `${Math.round(memory)}, ${watched.memory.peak} MB`],
        ['valid requests, failed, p99', `${good.sent}, ${good.failed}, ${good.p99} ms`],
        ['/livez, p50, max', `${watched.latency.p50}, ${watched.latency.max} ms`],
      ]);
    }, TIMEOUT.timeout);

    afterAll(() => server?.kill());

    test('the oldest connections are closed', () => {
      expect(closed).toBeGreaterThan(0);
      expect(closed).toBeLessThan(UNREAD);
    });

    test(`at most ${MEMORY_LIMIT} MB of memory are used in addition`, () => {
      expect(watched.memory.peak - memory).toBeLessThan(MEMORY_LIMIT);
    });

    test('no valid request fails, and /livez always responds', () => {
      expect({ failed: good.failed, failures: good.failures }).toEqual({ failed: 0, failures: [] });
      expect(watched.failures).toEqual([]);
    });
  },
);
