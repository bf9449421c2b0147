/** Compares animal-store with Fastify and `pg`, both on PostgreSQL. */

import { noPrograms } from '../../test/support/postgres/programs.ts';
import type { Options } from '../options.ts';
import { restart, withPostgres } from '../postgres.ts';
import type { Definition } from '../results.ts';
import { measureInTurn, progress, type Row } from '../rounds.ts';
import { OURS, type ServerName, titleOf } from '../servers.ts';
import { canSlowDisk, slowFsync } from '../slow-disk.ts';
import { milliseconds, rowsTable, whole } from '../table.ts';
import { type ColdRow, coldTable, measureCold } from './cold.ts';

const SERVERS: readonly ServerName[] = ['fastify', OURS];

/** The number of milliseconds added to each fsync of PostgreSQL. */
const DELAY = 5;

export interface PostgresFound {
  /** The reason why nothing was measured, or `undefined` after a measurement. */
  readonly skipped?: string;
  readonly many?: readonly Row[];
  /** The results of creates with slower fsyncs. Missing if the system cannot make fsyncs slower, or if creates are not selected. */
  readonly slow?: readonly Row[];
  /** The results with a slow disk and little memory; only these are measured with `--cold`. */
  readonly cold?: readonly ColdRow[];
}

async function measure(options: Options): Promise<PostgresFound> {
  const { pets, works } = options;
  if (noPrograms !== undefined) return { skipped: noPrograms };
  if (options.cold) {
    return canSlowDisk()
      ? { cold: await measureCold(options) }
      : { skipped: 'needs Linux and a C compiler (cc)' };
  }
  progress(`filling a database with ${whole(pets)} pets`);
  return withPostgres(pets, async (server) => {
    const cases = SERVERS.filter((name) => options.servers.includes(name)).map((name) => ({
      label: name,
      session: { name, source: server.url, pets },
    }));
    const many = await measureInTurn(cases, options);
    if (!canSlowDisk() || !works.includes('create')) return { many };
    await restart(server, slowFsync(DELAY));
    const slow = await measureInTurn(cases, { ...options, works: ['create'] });
    for (const { label, min } of slow) {
      if (min < DELAY) throw new Error(`${label}: a create was acknowledged after ${milliseconds(min)} ms`);
    }
    return { many, slow };
  });
}

function postgresTable({ skipped, many = [], slow = [], cold }: PostgresFound): string {
  if (skipped !== undefined) return `Skipped: ${skipped}.`;
  if (cold !== undefined) return coldTable(cold);
  const tableOf = (rows: readonly Row[]) =>
    rowsTable(rows, 'server', { fastify: 'of Fastify' }, (name) => titleOf(name as ServerName));
  return `${tableOf(many)}\n\nDurable creates, each fsync of PostgreSQL ${DELAY} ms longer\n\n${tableOf(slow)}`;
}

export const POSTGRES: Definition<PostgresFound> = { title: 'On PostgreSQL', measure, table: postgresTable };
