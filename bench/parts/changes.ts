/** Compares animal-store with Fastify at changing pets, and pages of changes with lists of pets, on each storage. */

import { noPrograms } from '../../test/support/postgres/programs.ts';
import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { withPostgres } from '../postgres.ts';
import type { Definition } from '../results.ts';
import { measureInTurn, type Row } from '../rounds.ts';
import { OURS, type ServerName, titleOf } from '../servers.ts';
import { rowsTable } from '../table.ts';

export interface ChangesOf {
  readonly storage: string;
  readonly rows: readonly Row[];
}

const WITH_KEY = `${OURS}, a new key each`;

async function measure(options: Options): Promise<ChangesOf[]> {
  const { pets } = options;
  const found = [{ storage: 'SQLite', rows: await measureOn(filledFile(pets), options) }];
  if (noPrograms === undefined) {
    const rows = await withPostgres(pets, ({ url }) => measureOn(url, options));
    found.push({ storage: 'PostgreSQL', rows });
  }
  return found;
}

async function measureOn(source: string, options: Options): Promise<Row[]> {
  const { pets } = options;
  const session = { name: OURS, source, pets, environment: { EXPERIMENTAL: 'on' } } as const;
  const ours = { label: OURS, session };
  const fastify = { label: 'fastify', session: { name: 'fastify', source, pets } } as const;
  const withKey = { label: WITH_KEY, session: { ...session, idempotencyKeys: true } };
  return [
    ...(await measureInTurn([fastify, ours, withKey], { ...options, works: ['change'] })),
    ...(await measureInTurn([ours], { ...options, works: ['list-100', 'changes'] })),
  ];
}

function changesTable(found: readonly ChangesOf[]): string {
  const titleOfCase = (label: string) => (label === WITH_KEY ? label : titleOf(label as ServerName));
  return found
    .map(
      ({ storage, rows }) =>
        `${storage}\n\n${rowsTable(rows, 'server', { fastify: 'of Fastify' }, titleOfCase)}`,
    )
    .join('\n\n');
}

export const CHANGES: Definition<readonly ChangesOf[]> = {
  title: 'Changes of pets',
  measure,
  table: changesTable,
};
