/** An import into a storage of which a commit has failed. */

import { expect, test, vi } from 'vitest';
import { importPets, inBatches } from '../../../src/testing/fixtures/transfers.ts';
import { openHeld } from './held-storage.ts';
import { REX } from './temporary-file.ts';

test('after a failed fsync, an import is refused, and its thread is not asked', async () => {
  const { storage, replies, thread } = await openHeld();
  const add = expect(storage.pets.add(REX)).rejects.toMatchObject({ reason: 'sync_failed' });
  await replies.sent(1);
  replies.deliverNext({
    outcomes: [{ code: 'storage_unavailable', message: 'failed', detail: '', reason: 'sync_failed' }],
  });
  await add;
  const post = vi.spyOn(thread, 'postMessage');
  const importing = importPets(storage, inBatches([REX]));
  await expect(importing).rejects.toMatchObject({ reason: 'sync_failed' });
  expect(post).not.toHaveBeenCalled();
});
