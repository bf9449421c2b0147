/** Compares animal-store with few pets and with very many pets. */

import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { measureInTurn, progress, type Row } from '../rounds.ts';
import { OURS } from '../servers.ts';
import { rowsTable, whole } from '../table.ts';

export async function measureSizes(options: Options): Promise<Row[]> {
  const cases = options.sizes.map((pets) => {
    progress(`filling a file with ${whole(pets)} pets`);
    return { label: whole(pets), session: { name: OURS, source: filledFile(pets), pets } } as const;
  });
  return measureInTurn(cases, options);
}

export function sizesTable(rows: readonly Row[]): string {
  const smallest = rows[0]?.label ?? '';
  return rowsTable(rows, 'pets', { [smallest]: `of ${smallest}` });
}
