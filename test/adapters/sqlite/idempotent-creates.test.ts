import { expect, test } from 'vitest';
import { FIRST_RESPONSES, replaysOfRemovedPet } from '../../support/removed-pet.ts';
import { connect } from '../../support/sqlite.ts';
import { openStorage, temporaryFile } from './temporary-file.ts';

test('a retried create whose pet another program has removed is an internal error, until its record ends', async () => {
  const path = temporaryFile();
  const replays = await replaysOfRemovedPet(
    openStorage(path),
    () => connect(path).exec('DELETE FROM pets'),
    () => connect(path).exec('UPDATE idempotency_records SET valid_until = 1'),
  );
  expect(replays).toEqual(FIRST_RESPONSES);
});
