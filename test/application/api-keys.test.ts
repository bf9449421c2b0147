import { beforeEach, describe, expect, test, vi } from 'vitest';
import { MemoryApiKeyRepository } from '../../src/adapters/memory/api-key-repository.ts';
import { ApiKeys } from '../../src/application/api-keys.ts';
import { VerifyApiKey } from '../../src/application/verify-api-key.ts';
import { API_KEY_PREFIX, isApiKey } from '../../src/domain/api-key.ts';
import { refusal } from '../support/refusal.ts';

const HOUR = 60 * 60 * 1000;

let repository: MemoryApiKeyRepository;
let apiKeys: ApiKeys;
let verifyApiKey: VerifyApiKey;
let now: number;

beforeEach(() => {
  now = Date.now();
  repository = new MemoryApiKeyRepository();
  apiKeys = new ApiKeys(repository, () => now);
  verifyApiKey = new VerifyApiKey(repository, () => now);
});

describe('create', () => {
  test('returns the key once, and its attributes', async () => {
    const { key, about } = await apiKeys.create('ci', now + HOUR);
    expect(isApiKey(key)).toBe(true);
    expect(about).toMatchObject({
      name: 'ci',
      prefix: key.slice(0, API_KEY_PREFIX.length + 4),
      createdAt: now,
      expiresAt: now + HOUR,
      isReadOnly: false,
    });
    expect(await verifyApiKey.verify(key)).toMatchObject({ id: about.id, name: 'ci' });
    expect(JSON.stringify(await apiKeys.list())).not.toContain(key.slice(API_KEY_PREFIX.length + 5));
  });

  test.each([
    ['now', () => now],
    ['not a number', () => Number.NaN],
    ['between two milliseconds', () => now + 0.5],
    ['not a safe integer', () => 2 ** 53],
  ])('refuses an expiry that is %s', async (_, expiresAt) => {
    await expect(apiKeys.create('ci', expiresAt())).rejects.toThrow(
      refusal('the expiry must be in the future, in whole milliseconds'),
    );
    expect(await apiKeys.list()).toEqual([]);
  });
});

describe('createFirst', () => {
  test('creates no key in a store that has had one, even a revoked one', async () => {
    await apiKeys.revoke((await apiKeys.create('ci')).about.id);
    using add = vi.spyOn(repository, 'addFirst');
    expect(await apiKeys.createFirst('first', () => expect.unreachable())).toBeUndefined();
    // This write waits for other writers.
    expect(add).not.toHaveBeenCalled();
  });

  test('creates a key in a store that has never had one, and saves it before it is stored', async () => {
    let saved = '';
    const issued = await apiKeys.createFirst('first', async (key) => {
      expect(await apiKeys.list()).toEqual([]);
      saved = key;
    });
    expect(issued).toMatchObject({ key: saved, about: { name: 'first', isReadOnly: false } });
    expect(await verifyApiKey.verify(saved)).toMatchObject({ name: 'first' });
  });

  test('stores no key when saving fails', async () => {
    const save = () => Promise.reject(new Error('the disk is full'));
    await expect(apiKeys.createFirst('first', save)).rejects.toThrow('the disk is full');
    expect(await apiKeys.list()).toEqual([]);
  });
});

describe('rotate', () => {
  test('creates a key with the same name, and the old one expires after the overlap', async () => {
    const other = await apiKeys.create('other');
    const old = await apiKeys.create('ci');
    const { key, about } = await apiKeys.rotate(old.about.id, HOUR);
    expect(about).toMatchObject({ name: 'ci', createdAt: now });
    expect(about.expiresAt).toBeUndefined();
    expect(about.id).not.toBe(old.about.id);
    expect(await apiKeys.list()).toEqual([other.about, { ...old.about, expiresAt: now + HOUR }, about]);
    expect(await verifyApiKey.verify(old.key)).toMatchObject({ id: old.about.id });
    expect(await verifyApiKey.verify(key)).toMatchObject({ id: about.id });
  });

  test.each<[skew: number, message: string]>([
    [0, 'expired'],
    [1, 'rotated at the same time'],
  ])(
    'exactly one of several simultaneous rotations without overlap succeeds, with clocks %d ms apart',
    async (skew, message) => {
      const keys = new MemoryApiKeyRepository();
      const callers = [0, 1, 2].map((index) => new ApiKeys(keys, () => now - index * skew));
      const { about } = await new ApiKeys(keys, () => now - 24 * HOUR).create('ci');
      const results = await Promise.allSettled(callers.map((each) => each.rotate(about.id, 0)));
      const reasons = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
      const refused = { code: 'invalid_request', message: expect.stringContaining(message) };
      expect(reasons).toEqual([expect.objectContaining(refused), expect.objectContaining(refused)]);
      expect(await keys.list()).toHaveLength(2);
    },
  );

  test('a key that is revoked just before it is replaced stays revoked, and no key is created', async () => {
    class Racing extends MemoryApiKeyRepository {
      override async replace(...args: Parameters<MemoryApiKeyRepository['replace']>) {
        await this.revoke(args[0].id, now);
        return super.replace(...args);
      }
    }
    const raced = new ApiKeys(new Racing(), () => now);
    const { about } = await raced.create('ci');
    await expect(raced.rotate(about.id, HOUR)).rejects.toThrow(
      refusal(`key ${about.id} is revoked or expired: create a new one`),
    );
    expect(await raced.list()).toMatchObject([{ id: about.id, revokedAt: now }]);
  });

  test('the new key has the name and the permissions of the old one, even an invalid name', async () => {
    const draft = { name: ' ', prefix: 'some', createdAt: now, isReadOnly: true };
    const old = await repository.add('some key', draft);
    expect((await apiKeys.rotate(old.id, 0)).about).toMatchObject({ name: ' ', isReadOnly: true });
  });

  test('a revoked or expired key cannot be rotated', async () => {
    const revoked = await apiKeys.create('revoked');
    await apiKeys.revoke(revoked.about.id);
    const expired = await apiKeys.create('expired', now + 1);
    now += 1;
    for (const { about } of [revoked, expired])
      await expect(apiKeys.rotate(about.id, 0)).rejects.toThrow(/is revoked or expired: create a new one$/);
  });

  test('an overlap without an end is that to the end of the year 9999, the last date of a key', async () => {
    await apiKeys.rotate((await apiKeys.create('ci')).about.id, Number.MAX_SAFE_INTEGER);
    const [first] = await apiKeys.list();
    expect(new Date(first?.expiresAt ?? 0).toISOString()).toBe('9999-12-31T23:59:59.999Z');
  });

  test.each([-1, 0.5, Infinity])('the overlap cannot be %s', async (overlap) => {
    await expect(apiKeys.rotate('1', overlap)).rejects.toThrow(
      refusal('the overlap must be 0 or more whole milliseconds'),
    );
  });
});

test('a revocation of an unknown key rejects with not_found, as a rotation does', async () => {
  for (const call of [() => apiKeys.revoke('7'), () => apiKeys.rotate('7', 0)])
    await expect(call()).rejects.toThrow(refusal('there is no key with id 7', 'not_found'));
});

describe('the expiry of a rotated key', () => {
  test('gives it the lifetime of the old key, or none when the old key has none, or null is given', async () => {
    const { about } = await apiKeys.create('ci', now + 90 * HOUR);
    const { about: endless } = await apiKeys.create('ci');
    now += 80 * HOUR;
    const expiryOf = async (id: string, expiresAt?: null) =>
      (await apiKeys.rotate(id, 100 * HOUR, expiresAt)).about.expiresAt;
    expect(await expiryOf(about.id)).toBe(now + 90 * HOUR);
    expect([await expiryOf(endless.id), await expiryOf(about.id, null)]).toEqual([undefined, undefined]);
  });

  test('is that of the last replacement when the old key was rotated before, because its output was lost', async () => {
    const { about } = await apiKeys.create('ci');
    await apiKeys.create('other', now + HOUR);
    for (const expiresAt of [undefined, now + 5 * HOUR, undefined]) {
      const again = (await apiKeys.rotate(about.id, HOUR, expiresAt)).about;
      expect(again.expiresAt).toBe(again.id === '3' ? undefined : now + 5 * HOUR);
    }
  });

  test('must be in the future when it is given', async () => {
    const { about } = await apiKeys.create('ci', now + HOUR);
    await expect(apiKeys.rotate(about.id, 0, now)).rejects.toMatchObject({ code: 'invalid_request' });
    expect((await apiKeys.rotate(about.id, 0, now + 2 * HOUR)).about.expiresAt).toBe(now + 2 * HOUR);
  });

  test('is never after the year 9999', async () => {
    const last = Date.UTC(10_000, 0) - 1;
    const { about } = await apiKeys.create('ci', last);
    now += 24 * HOUR;
    expect((await apiKeys.rotate(about.id, HOUR)).about.expiresAt).toBe(last);
    await expect(apiKeys.create('ci', last + 1)).rejects.toThrow('must not be later than the year 9999');
  });
});

test('the repository of a storage in plain JavaScript can return no promise, and null', async () => {
  const { about } = await apiKeys.create('ci');
  const [replaced, revoked] = [vi.spyOn(repository, 'replace'), vi.spyOn(repository, 'revoke')];
  for (const spy of [replaced, revoked])
    spy.mockReturnValueOnce(about as never).mockReturnValueOnce(null as never);
  expect((await apiKeys.rotate(about.id, 0)).about).toBe(about);
  await expect(apiKeys.rotate(about.id, 0)).rejects.toThrow('rotated at the same time');
  expect(await apiKeys.revoke(about.id)).toBe(about);
  await expect(apiKeys.revoke(about.id)).rejects.toMatchObject({ code: 'not_found' });
});
