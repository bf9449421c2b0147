/** Runs every attack at once against one real server, together with valid requests, which must not be affected. */

import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { canMakeDevices, fullDevice, Pipe } from '../support/log-streams.ts';
import { OPERATOR_KEY } from '../support/process.ts';
import { ATTACKS, LOG, SECONDS } from './options.ts';
import { canonicalPet } from './oracle/pet.ts';
import { FaultsServer, hasProc, PROCESSORS } from './server.ts';
import type { Counts } from './soak/attackers.ts';
import { LEFT_BEHIND } from './soak/attacks/broken-connections.ts';
import type { GoodLoad, GoodResult } from './soak/good-load.ts';
import { Helper } from './soak/helper.ts';
import { Watch, type Watched } from './soak/watch.ts';
import { printTable } from './table.ts';

const PER_SECOND = 1000;
const WARM_UP_SECONDS = 4;

/** In milliseconds. The time until a server must be at rest again. */
const REST_TIMEOUT = 20_000;

/**
 * In milliseconds. The maximum time of a probe of /livez on a machine with {@link PROCESSORS} free. Where other programs take
 * a part of them, the limit is divided by the share of the server.
 */
const PROBE_LIMIT = 1500;

/**
 * In MB. The maximum growth of memory above that at rest: 134 for unread responses, about 100 for bodies that arrive, and the
 * connections.
 */
const PEAK_LIMIT = 500;

/**
 * The time in which memory must reach its level, in multiples of the length of the soak. It has reached its level when it
 * grows by less than {@link GROWTH_LIMIT} MB from one quarter of a soak to the next.
 */
const LONGEST = 4;
const GROWTH_LIMIT = 25;

/** The number of descriptors that may be opened later, such as the store's file. */
const DESCRIPTORS_LIMIT = 2;

const TIMEOUT = { timeout: LONGEST * SECONDS * 1000 + 120_000 };

type LogTarget = 'full device' | 'unread pipe';

/** Writes to the log fail in the first soak, and block in a second, shorter one. */
const SOAKS: readonly (readonly [log: LogTarget, seconds: number])[] =
  LOG !== undefined
    ? [[LOG as LogTarget, SECONDS]]
    : canMakeDevices
      ? [
          ['full device', SECONDS],
          ['unread pipe', Math.ceil(SECONDS / 3)],
        ]
      : [['unread pipe', SECONDS]];

if (!canMakeDevices) console.warn('SKIPPED: a log on a full device. This user may not make a device.');
if (!hasProc) console.warn('SKIPPED: memory and file descriptors. This system has no /proc.');

describe.each(SOAKS)('all attacks at once, with the log on: %s, for %i seconds', TIMEOUT, (log, seconds) => {
  let server: FaultsServer;
  let calm: GoodResult;
  let good: GoodResult;
  let attacks: Counts;
  let watched: Watched;
  let idleMemory: number;
  let growth: number;
  let descriptors: { readonly before: number; readonly after: number };
  let exported: string[];
  let exit: Awaited<FaultsServer['exit']>;
  let stopTime: number;
  let busy: number;
  let share: number;

  beforeAll(async () => {
    busy = loadavg()[0] ?? 0;
    const stderr = log === 'full device' ? fullDevice() : new Pipe().path;
    server = await FaultsServer.start({
      stderr,
      logLevel: 'info',
      env: { CORS_ORIGIN: 'https://example.org' },
    });
    calm = await goodLoad('calm').stopAfter(WARM_UP_SECONDS);
    const before = await atRest(server);
    idleMemory = server.memory() ?? 0;

    const watch = new Watch(server);
    const start = performance.now();
    const processor = server.processorTime();
    const load = goodLoad('good');
    const attackers = new Helper<Counts>('attackers.ts', target(), ATTACKS?.join(',') ?? '');
    const end = performance.now() + LONGEST * seconds * 1000;
    for (let time = seconds; performance.now() < end; time = 1) {
      await Promise.race([sleep(time * 1000), server.exit]);
      growth = watch.memoryGrowth(seconds / 4);
      if (growth < GROWTH_LIMIT) break;
    }
    const used = (server.processorTime() ?? 0) - (processor ?? 0);
    const elapsed = (performance.now() - start) / 1000;
    share = processor === undefined ? 1 : Math.min(used / (elapsed * PROCESSORS), 1);
    attacks = await attackers.stop();
    good = await load.helper.stop();
    watched = await watch.stop();

    descriptors = { before, after: await atRest(server, before) };
    exported = server.export();
    const stopAt = performance.now();
    exit = await server.stop();
    stopTime = Math.round(performance.now() - stopAt);
    report();
  }, TIMEOUT.timeout);

  afterAll(() => server?.kill());

  function target(): string {
    return JSON.stringify({ port: server.port, key: OPERATOR_KEY });
  }

  function goodLoad(name: string) {
    const load: GoodLoad = { port: server.port, key: OPERATOR_KEY, perSecond: PER_SECOND, name };
    const helper = new Helper<GoodResult>('good-load.ts', JSON.stringify(load));
    const stopAfter = async (time: number) => {
      await sleep(time * 1000);
      return helper.stop();
    };
    return { helper, stopAfter };
  }

  function report(): void {
    const { memory, latency, probes } = watched;
    printTable(`Soak of ${seconds} s, log on: ${log}`, [
      ['', 'requests', 'failed', 'p50 ms', 'p99 ms', 'max ms'],
      ['good requests, calm', calm.sent, calm.failed, calm.p50, calm.p99, calm.max],
      ['good requests, under attack', good.sent, good.failed, good.p50, good.p99, good.max],
      ['probes of /livez', probes, watched.failures.length, latency.p50, latency.p99, latency.max],
    ]);
    printTable('The server', [
      ['memory at rest', `${Math.round(idleMemory)} MB`],
      ['its peak', `${memory.peak} MB`],
      [`its growth in the last ${seconds / 4} s`, `${Math.round(growth)} MB`],
      ['file descriptors before and after', `${descriptors.before}, ${descriptors.after}`],
      ['load average of the machine before', busy.toFixed(1)],
      ['processor', share.toFixed(2)],
      ['exit', `${exit.signal ?? exit.code} after ${stopTime} ms`],
    ]);
    printTable('The attacks', Object.entries(attacks));
  }

  test('every attack was carried out', () => {
    expect(Object.keys(attacks)).toHaveLength(ATTACKS?.length ?? 15);
  });

  test(`no valid request fails, at ${PER_SECOND} per second`, () => {
    expect(calm.failures).toEqual([]);
    expect({ failed: good.failed, failures: good.failures }).toEqual({ failed: 0, failures: [] });
    expect(good.sent).toBeGreaterThan(0.9 * PER_SECOND * seconds);
  });

  test(`/livez responds within ${PROBE_LIMIT} ms, at any time`, () => {
    expect(watched.failures).toEqual([]);
    expect(watched.probes).toBeGreaterThan(4 * seconds);
    expect(watched.latency.max).toBeLessThan(PROBE_LIMIT / share);
  });

  test.skipIf(!hasProc)(`memory stays within ${PEAK_LIMIT} MB of that at rest, and does not grow`, () => {
    const { samples, peak } = watched.memory;
    expect(samples).toBeGreaterThan(4 * seconds);
    expect(idleMemory).toBeGreaterThan(0);
    expect(peak - idleMemory).toBeLessThan(PEAK_LIMIT);
    expect(growth).toBeLessThan(GROWTH_LIMIT);
  });

  test.skipIf(!hasProc)('file descriptors are given back', () => {
    expect(descriptors.after).toBeGreaterThan(0);
    expect(descriptors.after).toBeLessThanOrEqual(descriptors.before + DESCRIPTORS_LIMIT);
  });

  test('every acknowledged pet is stored, and no other, apart from broken connections', () => {
    const acknowledged = [...calm.pets, ...good.pets].map(canonicalPet);
    const stored = new Set(exported.map(canonicalPet));
    expect(acknowledged.filter((pet) => !stored.delete(pet)).slice(0, 10)).toEqual([]);
    const others = [...stored].filter((pet) => !pet.includes(LEFT_BEHIND));
    expect(others.length).toBeLessThanOrEqual(calm.uncertain + good.uncertain);
    expect(acknowledged.length).toBeGreaterThan(PER_SECOND / 10);
  });

  test('SIGTERM stops the server gracefully', () => {
    expect(exit).toEqual({ code: 0, signal: null });
  });
});

/** Waits until the number of open file descriptors is no greater than before, and returns it. */
async function atRest(server: FaultsServer, expected = 0): Promise<number> {
  const deadline = performance.now() + REST_TIMEOUT;
  let previous = Number.NaN;
  for (;;) {
    const open = server.descriptors() ?? 0;
    const isSteady = expected === 0 ? open === previous : open <= expected + DESCRIPTORS_LIMIT;
    if (isSteady || performance.now() > deadline) return open;
    previous = open;
    await sleep(500);
  }
}
