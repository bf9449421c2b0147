/** Compares gets of random ids on a PostgreSQL server whose memory is much smaller than the table, and whose disk is slow. */

import { setTimeout as delay } from 'node:timers/promises';
import { API_KEY } from '../data.ts';
import type { Options } from '../options.ts';
import { restart, withPostgres } from '../postgres.ts';
import { median, progress } from '../rounds.ts';
import { OURS, type ServerName, titleOf } from '../servers.ts';
import { type Figures, Session } from '../session.ts';
import { slowReads } from '../slow-disk.ts';
import { milliseconds, table, whole } from '../table.ts';

/** The number of milliseconds that each read of a page takes longer, and the memory of PostgreSQL. */
const READ_DELAY = 1;
const MEMORY = '1MB';
const PAGE = 8192;

const MAX_PETS = 300_000;

/** The pause between two requests that are measured beside the gets, in milliseconds. */
const PAUSE = 20;

/** The servers, and the parameters in the URL of the database. Fastify has a pool of 10 connections. */
const CASES: readonly { readonly label: string; readonly name: ServerName; readonly query: string }[] = [
  { label: 'Fastify 5, 10 connections', name: 'fastify', query: '' },
  { label: `${titleOf(OURS)}, 16 connections`, name: OURS, query: '' },
  { label: `${titleOf(OURS)}, 10 connections`, name: OURS, query: '?max=10' },
];

/** The medians of all rounds. Times are in milliseconds. */
export interface ColdRow {
  readonly label: string;
  readonly perSecond: number;
  /** The median of the ratios to Fastify in each round. */
  readonly ofFastify: number;
  readonly p50: number;
  readonly p99: number;
  /** The p95 of a list that is cached, beside the gets. */
  readonly listP95: number;
  /** The share of responses of `/readyz` with status 200; `undefined` for a server without this path. */
  readonly ready: number | undefined;
}

interface Round extends Figures {
  readonly listP95: number;
  readonly ready: number | undefined;
}

export async function measureCold(options: Options): Promise<ColdRow[]> {
  const pets = Math.min(options.pets, MAX_PETS);
  progress(`filling a database with ${whole(pets)} pets`);
  return withPostgres(
    pets,
    async (server) => {
      await restart(server, slowReads(READ_DELAY, PAGE));
      const rounds = new Map<string, Round[]>();
      for (let round = 0; round < options.rounds; round++) {
        for (const { label, name, query } of round % 2 === 0 ? CASES : CASES.toReversed()) {
          const figures = await Session.run({ name, source: server.url + query, pets }, async (session) => {
            await session.load('get', { ...options, seconds: Math.max(1, options.warmup) });
            return await measureBeside(session, options);
          });
          progress(`get, ${label}: ${Math.round(figures.perSecond)}/s`);
          rounds.set(label, [...(rounds.get(label) ?? []), figures]);
        }
      }
      return CASES.map(({ label }) => rowOf(label, rounds));
    },
    { shared_buffers: MEMORY },
  );
}

/** Measures the gets, and lists and health checks beside them. */
async function measureBeside(session: Session, options: Options): Promise<Round> {
  const { origin, name } = session.server;
  const lists: number[] = [];
  const statuses: number[] = [];
  let isRunning = true;
  const status = async (path: string, headers: Record<string, string> = {}) => {
    const response = await fetch(`${origin}${path}`, { headers });
    await response.text();
    return response.status;
  };
  const beside = async () => {
    while (isRunning) {
      const startedAt = performance.now();
      await status('/v1/pets', { Authorization: `Bearer ${API_KEY}` });
      lists.push(performance.now() - startedAt);
      if (name === OURS) statuses.push(await status('/readyz'));
      await delay(PAUSE);
    }
  };
  const running = beside();
  const figures = await session.load('get', options);
  isRunning = false;
  await running;
  lists.sort((a, b) => a - b);
  const ready = statuses.filter((each) => each === 200).length / statuses.length;
  return {
    ...figures,
    listP95: lists[Math.floor(lists.length * 0.95)] ?? 0,
    ready: name === OURS ? ready : undefined,
  };
}

function rowOf(label: string, rounds: ReadonlyMap<string, readonly Round[]>): ColdRow {
  const own = rounds.get(label) ?? [];
  const fastify = rounds.get(CASES[0]?.label ?? '') ?? [];
  const of = (read: (round: Round) => number | undefined) =>
    median(own.map(read).filter((value) => value !== undefined));
  return {
    label,
    perSecond: of(({ perSecond }) => perSecond) ?? 0,
    ofFastify:
      median(own.map(({ perSecond }, round) => perSecond / (fastify[round]?.perSecond ?? Number.NaN))) ?? 0,
    p50: of(({ p50 }) => p50) ?? 0,
    p99: of(({ p99 }) => p99) ?? 0,
    listP95: of(({ listP95 }) => listP95) ?? 0,
    ready: of(({ ready }) => ready),
  };
}

export function coldTable(rows: readonly ColdRow[]): string {
  return table(
    ['server', 'gets/s', 'of Fastify', 'p50 ms', 'p99 ms', 'list, p95 ms', '/readyz 200'],
    rows.map(({ label, perSecond, ofFastify, p50, p99, listP95, ready }) => [
      label,
      whole(Math.round(perSecond)),
      ofFastify.toFixed(2),
      milliseconds(p50),
      milliseconds(p99),
      milliseconds(listP95),
      ready === undefined ? '' : `${Math.round(100 * ready)} %`,
    ]),
  );
}
