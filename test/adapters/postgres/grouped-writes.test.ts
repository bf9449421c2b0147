import { expect, test } from 'vitest';
import type { ConnectionPool, SqlStatement } from '../../../src/adapters/postgres/connection-pool.ts';
import { GroupedWrites } from '../../../src/adapters/postgres/grouped-writes.ts';
import { KnownFaults } from '../../../src/adapters/storage-kit/known-faults.ts';

test('if every queued write has waited too long, nothing is sent, and no success is reported', async () => {
  const sent: (SqlStatement | undefined)[] = [];
  const commits: unknown[] = [];
  const pool = {
    waitTimeout: 0,
    run: async (begin: () => SqlStatement | undefined) => {
      sent.push(begin());
      return [];
    },
  };
  const observer = { onCommit: (commit: unknown) => commits.push(commit) };
  const writes = new GroupedWrites(
    pool as unknown as ConnectionPool,
    new KnownFaults(['read', 'rows', 'write'], observer),
    observer,
  );
  const add = writes.ofKind<string, never>({ statementFor: () => ({ text: 'INSERT' }), resultsOf: () => [] });
  await expect(add('pet')).rejects.toMatchObject({
    code: 'storage_unavailable',
    message: expect.stringMatching(/nothing was stored$/),
  });
  expect({ sent, commits }).toEqual({ sent: [undefined], commits: [] });
});
