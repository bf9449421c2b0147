import { expect, onTestFinished, test, vi } from 'vitest';
import { TAKE_ORDER } from '../../../src/adapters/postgres/pets.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import { openStorage, openStore, REX, untilBlocked } from './database.ts';

const HOUR = 3_600_000;

describePostgres('idempotent creates on PostgreSQL', () => {
  test('records are removed in the order of the creates: a renewed record remains', async () => {
    const url = await newDatabaseUrl();
    const { idempotentCreates, idempotencyRecords } = await openStorage(url);
    const other = await connect(url);
    for (const [index, key] of ['a', 'b', 'c'].entries()) {
      await idempotentCreates.add(REX, { caller: '1', key, validFor: HOUR });
      await other.query(`UPDATE idempotency_records SET ends_at = ${index + 1} WHERE key = '${key}'`);
    }
    await other.query(`BEGIN; ${TAKE_ORDER}`);
    const removing = idempotencyRecords.removeRecords(10);
    await untilBlocked(other);
    await other.query(`UPDATE idempotency_records SET ends_at = ${Number.MAX_SAFE_INTEGER} WHERE key = 'a'`);
    await other.query('COMMIT');
    expect(await removing).toBe(2);
    const { rows } = await other.query('SELECT key FROM idempotency_records');
    expect(rows).toEqual([{ key: 'a' }]);
  });

  test.each([-2, 2])(
    'a server whose clock is %i days ahead stores no second pet, and removes no record',
    async (days) => {
      const { storage } = await openStore();
      const attempt = { caller: '1', key: 'a', validFor: HOUR };
      const { pet } = await storage.idempotentCreates.add(REX, attempt);
      onTestFinished(() => void vi.useRealTimers());
      vi.setSystemTime(Date.now() + days * 24 * HOUR);
      expect(await storage.idempotencyRecords.removeRecords(10)).toBe(0);
      expect(await storage.idempotentCreates.add(REX, attempt)).toEqual({ pet, isReplay: true });
      const other = { ...attempt, key: 'b' };
      await storage.idempotentCreates.add(REX, other);
      vi.useRealTimers();
      expect(await storage.idempotentCreates.add(REX, other)).toMatchObject({ isReplay: true });
    },
  );
});
