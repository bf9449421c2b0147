/** Compares servers, or settings of animal-store, at each kind of work. */

import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { type Case, measureInTurn, type Row, ratioTo } from '../rounds.ts';
import { LIMIT, OURS, type ServerName, titleOf } from '../servers.ts';
import type { SessionOptions } from '../session.ts';
import { milliseconds, rowsTable, table, whole } from '../table.ts';
import { WORK_TITLES } from '../works.ts';

/** Measures animal-store, or another server, with different options. */
function measure(options: Options, cases: readonly [label: string, change: Partial<SessionOptions>][]) {
  const { pets } = options;
  const ours: SessionOptions = { name: OURS, source: filledFile(pets), pets };
  const ofLabels = cases.map(([label, change]): Case => ({ label, session: { ...ours, ...change } }));
  return measureInTurn(ofLabels, options);
}

export function compare(options: Options): Promise<Row[]> {
  return measure(
    options,
    options.servers.map((name) => [name, { name }]),
  );
}

export function compareTable(rows: readonly Row[]): string {
  const against = { [LIMIT]: 'of the limit', fastify: 'of Fastify' };
  return rowsTable(rows, 'server', against, (label) => titleOf(label as ServerName));
}

export function measureLogLevels(options: Options): Promise<Row[]> {
  return measure(
    options,
    ['warn', 'info'].map((logLevel) => [logLevel, { logLevel }]),
  );
}

export function logLevelsTable(rows: readonly Row[]): string {
  return rowsTable(rows, 'LOG_LEVEL', { warn: 'of warn' });
}

const WITHOUT = 'no key';

export function measureIdempotency(options: Options): Promise<Row[]> {
  return measure({ ...options, works: ['create'] }, [
    [WITHOUT, {}],
    ['a new key each', { idempotencyKeys: true }],
  ]);
}

export function idempotencyTable(rows: readonly Row[]): string {
  return rowsTable(rows, 'Idempotency-Key', { [WITHOUT]: 'of no key' });
}

export function measureWorkers(options: Options): Promise<Row[]> {
  return measure(
    options,
    options.workers.map((workers) => [`threads: ${workers}`, { workers }]),
  );
}

export function workersTable(rows: readonly Row[]): string {
  return table(
    'work|animal-store|requests/s|of one|p50 ms|p99 ms|us of processor time'.split('|'),
    rows.map((row) => [
      WORK_TITLES[row.work],
      row.label,
      whole(row.perSecond),
      ratioTo(row.label.replace(/\d+$/, '1'), row, rows)?.toFixed(2) ?? '',
      milliseconds(row.p50),
      milliseconds(row.p99),
      row.serverShare === undefined ? '' : ((1e6 * row.serverShare) / row.perSecond).toFixed(1),
    ]),
  );
}
