/** Compares animal-store with Fastify and `pg`, both on PostgreSQL. */

import { join } from 'node:path';
import { noPrograms } from '../../test/support/postgres/programs.ts';
import type { Options } from '../options.ts';
import { restart, withPostgres } from '../postgres.ts';
import { runToEnd } from '../processes.ts';
import { measureInTurn, median, progress, type Row } from '../rounds.ts';
import { OURS, type ServerName, titleOf } from '../servers.ts';
import { canSlowDisk, slowFsync } from '../slow-disk.ts';
import { milliseconds, rowsTable, table, whole } from '../table.ts';
import { type ColdRow, coldTable, measureCold } from './cold.ts';

const NOTHING: PostgresFound = {
  many: [],
  single: [],
  slow: [],
  inserts: { create: 0, insert: 0, ratio: 0 },
};
const SERVERS: readonly ServerName[] = ['fastify', OURS];

/** The number of milliseconds added to each fsync of PostgreSQL. */
const DELAY = 5;

export interface PostgresFound {
  /** The reason why nothing was measured, or `undefined` after a measurement. */
  readonly skipped?: string;
  readonly many: readonly Row[];
  /** The results with one connection of the load generator. */
  readonly single: readonly Row[];
  /** The results of creates with slower fsyncs. Empty on systems on which fsyncs cannot be made slower. */
  readonly slow: readonly Row[];
  readonly inserts: Inserts;
  /** The results with a slow disk and little memory; only these are measured with `--cold`. */
  readonly cold?: readonly ColdRow[];
}

/**
 * The time of one create, in milliseconds, when one process makes one create after another: through the storage of
 * animal-store, and as an `INSERT` of `pg`.
 */
export interface Slice {
  readonly create: number;
  readonly insert: number;
}

/** The medians of all slices. */
export interface Inserts extends Slice {
  /** The median of the ratios in each slice. */
  readonly ratio: number;
}

export async function measurePostgres(options: Options): Promise<PostgresFound> {
  if (noPrograms !== undefined) return { ...NOTHING, skipped: noPrograms };
  const { pets, quick, seconds, works } = options;
  if (options.cold) {
    if (!canSlowDisk()) return { ...NOTHING, skipped: 'needs Linux and a C compiler (cc)' };
    return { ...NOTHING, cold: await measureCold(options) };
  }
  progress(`filling a database with ${whole(pets)} pets`);
  return withPostgres(pets, async (server) => {
    const cases = SERVERS.filter((name) => options.servers.includes(name)).map((name) => ({
      label: name,
      session: { name, source: server.url, pets },
    }));
    const many = await measureInTurn(cases, options);
    const alone = works.filter((work) => work === 'list' || work === 'get' || work === 'create');
    const single = await measureInTurn(cases, { ...options, works: alone }, { connections: 1 });
    const inserts = await measureInserts(server.url, quick ? 1 : 2 * seconds);
    if (!canSlowDisk() || !works.includes('create')) return { many, single, slow: [], inserts };
    await restart(server, slowFsync(DELAY));
    const slow = await measureInTurn(cases, { ...options, works: ['create'] });
    for (const { label, min } of slow) {
      if (min < DELAY) throw new Error(`${label}: a create was acknowledged after ${milliseconds(min)} ms`);
    }
    return { many, single, slow, inserts };
  });
}

async function measureInserts(url: string, seconds: number): Promise<Inserts> {
  const program = join(import.meta.dirname, '../load/inserts.ts');
  const { output } = await runToEnd([process.execPath, program, url, String(seconds)], { role: 'server' });
  const slices = JSON.parse(output) as Slice[];
  return {
    create: median(slices.map(({ create }) => create)) ?? 0,
    insert: median(slices.map(({ insert }) => insert)) ?? 0,
    ratio: median(slices.map(({ create, insert }) => create / insert)) ?? 0,
  };
}

export function postgresTable({ skipped, many, single, slow, inserts, cold }: PostgresFound): string {
  if (skipped !== undefined) return `Skipped: ${skipped}.`;
  if (cold !== undefined) return coldTable(cold);
  const against = { fastify: 'of Fastify' };
  const tableOf = (rows: readonly Row[]) =>
    rowsTable(rows, 'server', against, (name) => titleOf(name as ServerName));
  const ms = ({ create, insert, ratio }: Inserts) => [
    milliseconds(create),
    milliseconds(insert),
    ratio.toFixed(2),
  ];
  return [
    tableOf(many),
    `One connection\n\n${tableOf(single)}`,
    slow.length === 0
      ? 'Creates with slower fsyncs were not measured.'
      : `Durable creates, each fsync of PostgreSQL ${DELAY} ms longer\n\n${tableOf(slow)}`,
    `One create after another, without HTTP\n\n${table(['create ms', 'INSERT of pg ms', 'ratio'], [ms(inserts)])}`,
  ].join('\n\n');
}
