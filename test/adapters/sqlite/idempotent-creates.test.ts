import { expect, test } from 'vitest';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';
import { connect } from '../../support/sqlite.ts';
import { openStorage, temporaryFile } from './temporary-file.ts';

const attempt = (key: string, caller = '1', at = 1_000) => ({ caller, key, at, validUntil: at + 1000 });

test('a retried create whose pet another program has removed is an internal error, until its record ends', async () => {
  const path = temporaryFile();
  const { idempotentCreates } = openStorage(path);
  await idempotentCreates.add(samplePet('Rex'), attempt('a'));
  connect(path).exec('DELETE FROM pets');
  for (let times = 0; times < 2; times++) {
    await expect(idempotentCreates.add(samplePet('Rex'), attempt('a'))).rejects.toMatchObject({
      code: 'internal_error',
      message: 'the pet 1 of this idempotency key was removed by another program',
      retryAfter: undefined,
    });
  }
  const late = await idempotentCreates.add(samplePet('Rex'), attempt('a', '1', 2_001));
  expect(late).toMatchObject({ pet: { id: 2n }, isReplay: false });
});
