/** Compares creates with and without `Idempotency-Key`. */

import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { measureInTurn, type Row } from '../rounds.ts';
import { OURS } from '../servers.ts';
import type { SessionOptions } from '../session.ts';
import { rowsTable } from '../table.ts';

const WITHOUT = 'no key';

export function measureIdempotency(options: Options): Promise<Row[]> {
  const { pets } = options;
  const session: SessionOptions = { name: OURS, source: filledFile(pets), pets };
  return measureInTurn(
    [
      { label: WITHOUT, session },
      { label: 'a new key each', session: { ...session, idempotencyKeys: true } },
    ],
    { ...options, works: ['create'] },
  );
}

export function idempotencyTable(rows: readonly Row[]): string {
  return rowsTable(rows, 'Idempotency-Key', { [WITHOUT]: 'of no key' });
}
