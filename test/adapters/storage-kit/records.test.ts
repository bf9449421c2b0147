import { expect, test, vi } from 'vitest';
import {
  exactlyOnce,
  type Records,
  recordOf,
  responseOf,
} from '../../../src/adapters/storage-kit/records.ts';
import { CREATE_REQUEST } from '../../../src/application/ports/idempotent-changes.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { REX } from '../../support/pets.ts';

const PET: Pet = { id: 7n, ...REX };
const [OF_PET, OF_REMOVAL] = [responseOf(7n, PET), responseOf(7n, undefined)];
const UNKNOWN = { request: undefined, pet: undefined };

test('a key whose record is removed in between is claimed again, at most three times', async () => {
  const attempt = { caller: 'a', key: 'k', validFor: 1 };
  const claim = vi.fn<Records['claim']>().mockResolvedValue(PET);
  const add = exactlyOnce({ claim, find: async () => undefined });
  claim.mockResolvedValueOnce(undefined).mockResolvedValueOnce(undefined);
  expect(await add(PET, attempt)).toEqual({ pet: PET, isReplay: false });
  claim.mockReset().mockResolvedValue(undefined);
  await expect(add(PET, attempt)).rejects.toMatchObject({ code: 'overloaded' });
  expect(claim).toHaveBeenCalledTimes(3);
});

test.each([
  ['a change', [7n, 'change', OF_PET], { request: 'change', pet: PET }],
  ['a removal', [7n, 'remove', OF_REMOVAL], { request: 'remove', pet: undefined }],
  ['a release without requests', [7n, null, OF_PET], UNKNOWN],
  ['a release without responses', [7n, CREATE_REQUEST, null], UNKNOWN],
  ['an older release, which has reused it for another pet', [70n, 'change', OF_PET], UNKNOWN],
])('a record of %s is read', (_, row, record) => {
  expect(recordOf(row)).toEqual(record);
});

test('the response of a pet without attributes, all of which can be optional, is JSON, and not that of a removal', () => {
  const response = responseOf(7n, { id: 7n } as Pet);
  expect(JSON.parse(response)).toEqual({ id: 7 });
  expect(response).not.toBe(OF_REMOVAL);
});
