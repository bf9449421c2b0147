/** Compares all servers at each kind of work. */

import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { measureInTurn, type Row } from '../rounds.ts';
import { LIMIT, type ServerName, titleOf } from '../servers.ts';
import { rowsTable } from '../table.ts';

export function compare(options: Options): Promise<Row[]> {
  const { servers, pets } = options;
  const source = filledFile(pets);
  return measureInTurn(
    servers.map((name) => ({ label: name, session: { name, source, pets } })),
    options,
  );
}

export function compareTable(rows: readonly Row[]): string {
  const against = { [LIMIT]: 'of the limit', fastify: 'of Fastify' };
  return rowsTable(rows, 'server', against, (label) => titleOf(label as ServerName));
}
