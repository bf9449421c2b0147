import { expect, test } from 'vitest';
import { TAKE_ORDER } from '../../../src/adapters/postgres/pets.ts';
import { connect, describePostgres, newDatabaseUrl } from '../../support/postgres/index.ts';
import { REFUSED_REPLAYS, replaysOfRemovedPet } from '../../support/removed-pet.ts';
import { openStorage, openStore, REX, untilBlocked } from './database.ts';

describePostgres('idempotent creates on PostgreSQL', () => {
  test('records are removed in the order of the creates: a renewed record remains', async () => {
    const url = await newDatabaseUrl();
    const { idempotentCreates, idempotencyRecords } = await openStorage(url);
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries()) {
      await idempotentCreates.add(REX, { caller: '1', key, at: 0, validUntil: index + 1 });
    }
    const other = await connect(url);
    await other.query(`BEGIN; ${TAKE_ORDER}`);
    const removing = idempotencyRecords.removeRecords(3, 10);
    await untilBlocked(other);
    await other.query("UPDATE idempotency_records SET ends_at = 9 WHERE key = 'a'");
    await other.query('COMMIT');
    expect(await removing).toBe(1);
    const { rows } = await other.query('SELECT ends_at::int FROM idempotency_records ORDER BY 1');
    expect(rows.map(({ ends_at }) => ends_at)).toEqual([3, 4, 9]);
  });

  test('a key whose pet another program has removed: an error that says so, and no second pet', async () => {
    const { url, storage } = await openStore();
    const client = await connect(url);
    const replays = await replaysOfRemovedPet(storage, () => client.query('DELETE FROM pets'));
    expect(replays).toEqual(REFUSED_REPLAYS);
  });
});
