import { DatabaseError } from 'pg';
import { expect, test } from 'vitest';
import type { ConnectionPool, SqlStatement } from '../../../src/adapters/postgres/connection-pool.ts';
import { GroupedWrites } from '../../../src/adapters/postgres/grouped-writes.ts';
import { KnownFaults } from '../../../src/adapters/storage-kit/known-faults.ts';

/** Returns a function that makes a write, the statements that are sent, and the observed commits. */
function openWrites(waitTimeout: number, respond: () => []) {
  const sent: (SqlStatement | undefined)[] = [];
  const commits: unknown[] = [];
  const run = async (begin: () => SqlStatement | undefined) => {
    sent.push(begin());
    return respond();
  };
  const observer = { onCommit: (commit: unknown) => commits.push(commit) };
  const writes = new GroupedWrites(
    { waitTimeout, run } as unknown as ConnectionPool,
    new KnownFaults(['read', 'rows', 'write'], observer),
    observer,
  );
  const add = writes.ofKind<string, never>({ statementFor: () => ({ text: 'INSERT' }), resultsOf: () => [] });
  return { add, sent, commits };
}

test('if every queued write has waited too long, nothing is sent, and no success is reported', async () => {
  const { add, sent, commits } = openWrites(0, () => []);
  const refused = { code: 'storage_unavailable', message: expect.stringMatching(/nothing was stored$/) };
  await expect(add('pet')).rejects.toMatchObject(refused);
  expect({ sent, commits }).toEqual({ sent: [undefined], commits: [] });
});

test('a missing privilege fails all writes of a statement at once', async () => {
  const { add, sent } = openWrites(100_000, () => {
    throw Object.assign(new DatabaseError('denied', 6, 'error'), { code: '42501', severity: 'ERROR' });
  });
  const results = await Promise.allSettled(['one', 'two', 'three'].map((each) => add(each)));
  for (const result of results) expect(result).toMatchObject({ reason: { reason: 'not_permitted' } });
  expect(sent).toHaveLength(1);
});
