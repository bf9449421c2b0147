/** The keys of the variable API_KEYS, beside the keys in the store. */

import { expect, test } from 'vitest';
import { createApiKeyVerifier } from '../../src/composition/api-key-verifier.ts';
import { OPERATOR_KEY } from '../support/process.ts';

const [ONE, TWO] = [`${OPERATOR_KEY}-1`, `${OPERATOR_KEY}-2`] as const;
const NONE = { verify: async () => undefined };

test('a configured key has an id of its position, and a caller of its own wherever it stands', async () => {
  const verifier = createApiKeyVerifier(NONE, [ONE, TWO]);
  const one = await verifier.verify(ONE);
  expect(one).toEqual({ id: 'env-1', name: 'API_KEYS', callerId: expect.stringMatching(/^env-[\w-]{22}$/) });
  const two = await verifier.verify(TWO);
  expect(two).toMatchObject({ id: 'env-2', name: 'API_KEYS' });
  expect(two?.callerId).not.toBe(one?.callerId);
  expect(one?.callerId).not.toContain(ONE.slice(0, 16));
  expect(await createApiKeyVerifier(NONE, [TWO, ONE]).verify(ONE)).toEqual({ ...one, id: 'env-2' });
});

test('while the stored keys cannot be read, a configured key is accepted only where the caller asks for it', async () => {
  const error = new Error('unreachable');
  const verifier = createApiKeyVerifier({ verify: () => Promise.reject(error) }, [ONE]);
  await expect(verifier.verify(ONE)).rejects.toBe(error);
  await expect(verifier.verify(TWO, { duringOutage: true })).rejects.toBe(error);
  expect(await verifier.verify(ONE, { duringOutage: true })).toMatchObject({ id: 'env-1' });
});

test('parts of configured keys are secret', () => {
  const { hasPartOfKey } = createApiKeyVerifier(NONE, [ONE, TWO]);
  const texts = [ONE.slice(5, 30), 'another text of some length'];
  expect(texts.map((text) => hasPartOfKey?.(text))).toEqual([true, false]);
});
