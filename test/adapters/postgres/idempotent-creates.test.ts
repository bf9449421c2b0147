import { describe, expect, test } from 'vitest';
import { TAKE_ORDER } from '../../../src/adapters/postgres/order.ts';
import { canRunPostgres, connect, newDatabaseUrl, postgresNote } from '../../support/postgres/index.ts';
import { openStorage, REX, untilBlocked } from './database.ts';

describe.skipIf(!canRunPostgres)(`idempotent creates on PostgreSQL${postgresNote}`, () => {
  test('records are removed and redated in the order of the creates: a renewed record remains', async () => {
    const url = await newDatabaseUrl();
    const { idempotentCreates: creates } = await openStorage(url);
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries()) {
      await creates.add(REX, { caller: '1', key, at: index + 1, validFrom: 0 });
    }
    for (const [change, key, renewedAt, left] of [
      [() => creates.removeRecords(3, 10), 'a', 9, [3, 4, 9]],
      [() => creates.redateRecords(3, 10), 'd', 3, [3, 3, 3]],
    ] as const) {
      const other = await connect(url);
      await other.query(`BEGIN; ${TAKE_ORDER}`);
      const changing = change();
      await untilBlocked(other);
      const renew = 'UPDATE idempotency_records SET created_at = $1 WHERE key = $2';
      await other.query(renew, [renewedAt, key]);
      await other.query('COMMIT');
      expect(await changing).toBe(1);
      const { rows } = await other.query('SELECT created_at::int FROM idempotency_records ORDER BY 1');
      expect(rows.map(({ created_at }) => created_at)).toEqual(left);
    }
  });
});
