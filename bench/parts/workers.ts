/** Compares servers with several threads or processes, and measures them with a store that is larger than the memory. */

import { setTimeout as delay } from 'node:timers/promises';
import { API_KEY, filledFile } from '../data.ts';
import { Connection } from '../load/connection.ts';
import type { Options } from '../options.ts';
import { residentMemory } from '../processes.ts';
import { type Case, measureInTurn, median, progress, type Row, ratioTo } from '../rounds.ts';
import { LIMIT, OURS, type ServerName, titleOf } from '../servers.ts';
import { Session } from '../session.ts';
import { slowReads } from '../slow-disk.ts';
import { milliseconds, table, whole } from '../table.ts';
import { nextRequest, seededRandom, WORK_TITLES } from '../works.ts';

const SERVERS: readonly ServerName[] = [OURS, LIMIT, 'fastify'];

/** The time that each read of a page takes longer, in milliseconds, and the size of a page of SQLite, in bytes. */
const READ_DELAY = 1;
const PAGE = 4096;
const COLD_WORKERS = [1, 8];

/** The connections that list the first page beside the gets, and the pause between two lists, in milliseconds. */
const LISTING = 20;
const PAUSE = 10;

export interface WorkersFound {
  readonly rows: readonly Row[];
  readonly cold: readonly ColdRow[];
}

/** The medians of all rounds. Times are in milliseconds. */
interface ColdRow {
  readonly workers: number;
  readonly perSecond: number;
  readonly p99: number;
  /** The p99 of a cached list that nine of ten connections did not exceed, beside the gets. */
  readonly listP99: number;
  readonly megabytes: number;
}

export async function measureWorkers(options: Options): Promise<WorkersFound> {
  const source = filledFile(options.pets);
  const cases = SERVERS.filter((name) => options.servers.includes(name)).flatMap((name) =>
    options.workers.map((workers): Case => {
      const session = { name, source, pets: options.pets, workers };
      return { label: labelOf(name, workers), session };
    }),
  );
  return {
    rows: options.cold ? [] : await measureInTurn(cases, options),
    cold: options.cold || options.isWhole ? await measureCold(source, options) : [],
  };
}

function labelOf(name: ServerName, workers: number): string {
  return `${titleOf(name)}, ${workers}`;
}

async function measureCold(source: string, options: Options): Promise<ColdRow[]> {
  const found = new Map<number, ColdRow[]>(COLD_WORKERS.map((workers) => [workers, []]));
  for (let round = 0; round < options.rounds; round++) {
    for (const [workers, rows] of found) {
      const environment = slowReads(READ_DELAY, PAGE);
      const session = { name: OURS, source, pets: options.pets, workers, environment } as const;
      const row = await Session.run(session, (running) => measureBeside(running, workers, options));
      progress(
        `get, ${workers}: ${Math.round(row.perSecond)}/s, p99 of lists ${milliseconds(row.listP99)} ms`,
      );
      rows.push(row);
    }
  }
  return [...found].map(([workers, rows]) => {
    const of = (read: (row: ColdRow) => number) => median(rows.map(read)) ?? 0;
    return {
      workers,
      perSecond: of(({ perSecond }) => perSecond),
      p99: of(({ p99 }) => p99),
      listP99: of(({ listP99 }) => listP99),
      megabytes: of(({ megabytes }) => megabytes),
    };
  });
}

async function measureBeside(session: Session, workers: number, options: Options): Promise<ColdRow> {
  const port = Number(new URL(session.server.origin).port);
  const request = nextRequest('list', options.pets, seededRandom(1));
  let isRunning = true;
  const listing = Array.from({ length: LISTING }, async () => {
    const connection = await Connection.open(port);
    const times: number[] = [];
    while (isRunning) {
      const startedAt = performance.now();
      await new Promise((resolve) => connection.exchange(request, API_KEY, resolve));
      times.push(performance.now() - startedAt);
      await delay(PAUSE);
    }
    connection.close();
    return percentile(times, 0.99);
  });
  const { perSecond, p99 } = await session.load('get', options);
  const megabytes = residentMemory(session.server.pid) ?? Number.NaN;
  isRunning = false;
  return { workers, perSecond, p99, listP99: percentile(await Promise.all(listing), 0.9), megabytes };
}

function percentile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;
}

export function workersTable({ rows, cold }: WorkersFound): string {
  const warm = rows.map((row) => {
    const single = row.label.replace(/\d+$/, '1');
    const ratio = ratioTo(single, row, rows);
    return [
      WORK_TITLES[row.work],
      row.label,
      whole(row.perSecond),
      ratio?.toFixed(2) ?? '',
      milliseconds(row.p50),
      milliseconds(row.p99),
      row.serverShare === undefined ? '' : ((1e6 * row.serverShare) / row.perSecond).toFixed(1),
    ];
  });
  const head = [
    'work',
    'server, threads or processes',
    'requests/s',
    'of one',
    'p50 ms',
    'p99 ms',
    'us of processor time',
  ];
  const tables = warm.length > 0 ? [table(head, warm)] : [];
  if (cold.length > 0) {
    const lines = cold.map((row) => [
      String(row.workers),
      whole(row.perSecond),
      milliseconds(row.p99),
      milliseconds(row.listP99),
      whole(row.megabytes),
    ]);
    const title = `Each read of a page takes ${READ_DELAY} ms longer:`;
    tables.push(title, table(['threads', 'gets/s', 'p99 ms', 'list, p99 ms', 'MB'], lines));
  }
  return tables.join('\n\n');
}
