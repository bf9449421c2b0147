/** Compares reads of random pets on a PostgreSQL server whose memory is much smaller than the table, and whose disk is slow. */

import { setTimeout as delay } from 'node:timers/promises';
import { API_KEY } from '../data.ts';
import type { Options } from '../options.ts';
import { restart, withPostgres } from '../postgres.ts';
import { median, progress } from '../rounds.ts';
import { OURS, type ServerName, titleOf } from '../servers.ts';
import { Session } from '../session.ts';
import { slowReads } from '../slow-disk.ts';
import { milliseconds, table, whole } from '../table.ts';

/** The delay of each page read in milliseconds, and the memory of PostgreSQL. */
const READ_DELAY = 1;
const MEMORY = '1MB';
const PAGE = 8192;

const MAX_PETS = 300_000;

/** The pause between two list requests during the reads, in milliseconds. */
const PAUSE = 20;

/** The servers. `max` is the number of connections in the URL of the database. Fastify always has a pool of 10 connections. */
const CASES: readonly (readonly [label: string, name: ServerName, max?: string])[] = [
  ['Fastify 5, 10 connections', 'fastify'],
  [`${titleOf(OURS)}, 16 connections`, OURS],
  [`${titleOf(OURS)}, 10 connections`, OURS, '10'],
];

/** The medians of all rounds. Times are in milliseconds. */
export interface ColdRow {
  readonly label: string;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** The 95th percentile of the latency of a cached list during the reads. */
  readonly listP95: number;
}

export async function measureCold(options: Options): Promise<ColdRow[]> {
  const pets = Math.min(options.pets, MAX_PETS);
  progress(`filling a database with ${whole(pets)} pets`);
  return withPostgres(
    pets,
    async (server) => {
      await restart(server, slowReads(READ_DELAY, PAGE));
      const rounds: ColdRow[] = [];
      for (let round = 0; round < options.rounds; round++) {
        for (const [label, name, max] of round % 2 === 0 ? CASES : CASES.toReversed()) {
          const source = new URL(server.url);
          if (max !== undefined) source.searchParams.set('max', max);
          const row = await Session.run({ name, source: source.href, pets }, async (session) => {
            await session.load('get', { ...options, seconds: Math.max(1, options.warmup) });
            return { label, ...(await measureBeside(session, options)) };
          });
          progress(`get, ${label}: ${Math.round(row.perSecond)}/s`);
          rounds.push(row);
        }
      }
      return CASES.map(([label]) => middleOf(rounds.filter((row) => row.label === label)));
    },
    { shared_buffers: MEMORY },
  );
}

/** Measures reads of single pets and, at the same time, lists. */
async function measureBeside(session: Session, options: Options): Promise<Omit<ColdRow, 'label'>> {
  const lists: number[] = [];
  let isRunning = true;
  const listing = (async () => {
    for (; isRunning; await delay(PAUSE)) {
      const startedAt = performance.now();
      const headers = { Authorization: `Bearer ${API_KEY}` };
      await (await fetch(`${session.server.origin}/v1/pets`, { headers })).text();
      lists.push(performance.now() - startedAt);
    }
  })();
  const { perSecond, p50, p99 } = await session.load('get', options);
  isRunning = false;
  await listing;
  lists.sort((a, b) => a - b);
  return { perSecond, p50, p99, listP95: lists[Math.floor(lists.length * 0.95)] ?? 0 };
}

function middleOf(rows: readonly ColdRow[]): ColdRow {
  const of = (name: Exclude<keyof ColdRow, 'label'>) => median(rows.map((row) => row[name])) ?? 0;
  const [perSecond, p50, p99, listP95] = [of('perSecond'), of('p50'), of('p99'), of('listP95')];
  return { label: rows[0]?.label ?? '', perSecond, p50, p99, listP95 };
}

export function coldTable(rows: readonly ColdRow[]): string {
  return table(
    ['server', 'gets/s', 'p50 ms', 'p99 ms', 'list, p95 ms'],
    rows.map(({ label, perSecond, p50, p99, listP95 }) => [
      label,
      whole(perSecond),
      ...[p50, p99, listP95].map(milliseconds),
    ]),
  );
}
