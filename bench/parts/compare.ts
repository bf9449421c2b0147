/** Compares all servers at each kind of work. */

import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { measureInTurn, type Order, type Row } from '../rounds.ts';
import { LIMIT, LIMIT_ON_BUN, type ServerName, titleOf } from '../servers.ts';
import { rowsTable } from '../table.ts';

/** @param order what each process does before the other: creates or reads */
export async function compare(options: Options, order: Order = 'creates first'): Promise<Row[]> {
  const { servers, pets } = options;
  const source = filledFile(pets);
  return measureInTurn(
    servers.map((name) => ({ label: name, session: { name, source, pets } })),
    options,
    { order },
  );
}

export function compareTable(rows: readonly Row[]): string {
  const against = rows.some(({ label }) => label === LIMIT_ON_BUN)
    ? { [LIMIT_ON_BUN]: 'of the limit', elysia: 'of Elysia' }
    : { [LIMIT]: 'of the limit', fastify: 'of Fastify' };
  return rowsTable(rows, 'server', against, (label) => titleOf(label as ServerName));
}
