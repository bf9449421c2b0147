/** Compares servers, or settings of animal-store, at each kind of work. */

import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import type { Definition } from '../results.ts';
import { type Case, measureInTurn, type Row } from '../rounds.ts';
import { LIMIT, OURS, type ServerName, titleOf } from '../servers.ts';
import type { SessionOptions } from '../session.ts';
import { rowsTable } from '../table.ts';

type Cases = readonly (readonly [label: string, change: Partial<SessionOptions>])[];

/** Returns a function that measures a list of cases. Each case changes some options of a session with animal-store. */
function measuring(casesOf: (options: Options) => Cases): (options: Options) => Promise<Row[]> {
  return (options) => {
    const { pets } = options;
    const ours: SessionOptions = { name: OURS, source: filledFile(pets), pets };
    const toCase = ([label, change]: Cases[number]): Case => ({ label, session: { ...ours, ...change } });
    return measureInTurn(casesOf(options).map(toCase), options);
  };
}

export const COMPARE: Definition<readonly Row[]> = {
  title: 'Servers side by side',
  measure: measuring(({ servers }) => servers.map((name) => [name, { name }])),
  table(rows) {
    const against = { [LIMIT]: 'of the limit', fastify: 'of Fastify' };
    return rowsTable(rows, 'server', against, (label) => titleOf(label as ServerName));
  },
};

export const LOG_LEVELS: Definition<readonly Row[]> = {
  title: 'animal-store by log level',
  measure: measuring(() => ['warn', 'info'].map((logLevel) => [logLevel, { logLevel }])),
  table: (rows) => rowsTable(rows, 'LOG_LEVEL', { warn: 'of warn' }),
};

const WITHOUT = 'no key';
const WITH_AND_WITHOUT: Cases = [
  [WITHOUT, {}],
  ['a new key each', { idempotencyKeys: true }],
];

export const IDEMPOTENCY: Definition<readonly Row[]> = {
  title: 'animal-store, creates with Idempotency-Key',
  measure: (options) => measuring(() => WITH_AND_WITHOUT)({ ...options, works: ['create'] }),
  table: (rows) => rowsTable(rows, 'Idempotency-Key', { [WITHOUT]: 'of no key' }),
};
