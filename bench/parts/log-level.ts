/** Compares animal-store with and without a log line for each request. */

import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { measureInTurn, type Row } from '../rounds.ts';
import { OURS } from '../servers.ts';
import { rowsTable } from '../table.ts';

const LEVELS = ['warn', 'info'] as const;

export async function measureLogLevels(options: Options): Promise<Row[]> {
  const { pets } = options;
  const source = filledFile(pets);
  return measureInTurn(
    LEVELS.map((logLevel) => ({ label: logLevel, session: { name: OURS, source, pets, logLevel } })),
    options,
  );
}

export function logLevelsTable(rows: readonly Row[]): string {
  return rowsTable(rows, 'LOG_LEVEL', { warn: 'of warn' });
}
