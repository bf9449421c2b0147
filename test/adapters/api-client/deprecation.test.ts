/** The client and the deprecated operation. */

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { BASE, fakeApi, openStore, petText } from './fake-api.ts';

const DEPRECATED = { Deprecation: '@1764892800', Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' };

test('getPet reads a list', async () => {
  const sent = fakeApi({ status: 200, body: `[${petText(7n)}]` });
  expect((await (await openStore()).getPet(7n)).id).toBe(7n);
  expect(sent.map(({ url }) => url)).toEqual([`${BASE}/pets?limit=1&after=6`]);
});

test('a change by a function reads one pet, and tells nothing', async () => {
  const body = petText(7n);
  const onDeprecation = vi.fn();
  const headers = { ETag: '"a"' };
  fakeApi({ status: 200, body, headers: { ...headers, ...DEPRECATED } }, { status: 200, body, headers });
  await (await openStore({ onDeprecation })).changePet(7n, () => ({}));
  expect(onDeprecation).not.toHaveBeenCalled();
});

describe('a deprecation', () => {
  const response = { status: 200, body: '[]', headers: DEPRECATED };

  test('is told once per store and operation', async () => {
    fakeApi(response);
    const onDeprecation = vi.fn();
    const store = await openStore({ onDeprecation });
    for (let count = 0; count < 2; count++) await store.listPage();
    const [since, sunset] = [new Date('2025-12-05T00:00:00Z'), new Date('2030-12-05T00:00:00Z')];
    expect(onDeprecation.mock.calls).toEqual([[{ operation: 'listPets', since, sunset }]]);
  });

  test('is a warning by default, once per process', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
    onTestFinished(() => warn.mockRestore());
    fakeApi(response);
    for (const onDeprecation of [undefined, undefined, () => {}])
      await (await openStore({ onDeprecation })).listPage();
    expect(warn.mock.calls).toEqual([
      [
        'animal-store: the operation listPets of the API is deprecated, and due for removal from 2030-12-05; onDeprecation replaces this warning',
      ],
    ]);
  });

  test('changes no result when its callback fails', async () => {
    fakeApi(response);
    for (const onDeprecation of [() => Promise.reject(new Error('x')), () => expect.unreachable()])
      expect((await (await openStore({ onDeprecation })).listPage()).pets).toEqual([]);
  });
});
