import { beforeEach, describe, expect, test } from 'vitest';
import { MemoryApiKeyRepository } from '../../src/adapters/memory/api-key-repository.ts';
import { ApiKeys } from '../../src/application/api-keys.ts';
import { isApiKey } from '../../src/domain/api-key.ts';

const HOUR = 60 * 60 * 1000;

let repository: MemoryApiKeyRepository;
let apiKeys: ApiKeys;
let now: number;

beforeEach(() => {
  now = Date.now();
  repository = new MemoryApiKeyRepository();
  apiKeys = new ApiKeys(repository, () => now);
});

describe('create', () => {
  test('gives a key once, and what is known about it ever after', async () => {
    const { key, about } = await apiKeys.create('ci', now + HOUR);
    expect(isApiKey(key)).toBe(true);
    expect(about).toMatchObject({ name: 'ci', hint: key.slice(0, 9), createdAt: now, expiresAt: now + HOUR });
    expect(await repository.verify(key)).toMatchObject({ id: about.id, name: 'ci' });
    expect(JSON.stringify(await apiKeys.list())).not.toContain(key.slice(10));
  });

  test('no two keys are the same', async () => {
    const issued = await Promise.all(Array.from({ length: 100 }, () => apiKeys.create('ci')));
    expect(new Set(issued.map(({ key }) => key)).size).toBe(100);
    expect(new Set(issued.map(({ about }) => about.id)).size).toBe(100);
  });

  test('takes the time of day when it is given no clock', async () => {
    const before = Date.now();
    const { about } = await new ApiKeys(repository).create('ci');
    expect(about.createdAt).toBeGreaterThanOrEqual(before);
    expect(about.createdAt).toBeLessThanOrEqual(Date.now());
  });

  test('refuses a name that is none', async () => {
    await expect(apiKeys.create('')).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await apiKeys.list()).toEqual([]);
  });

  test.each([
    ['now', () => now],
    ['in the past', () => now - 1],
    ['no number', () => Number.NaN],
    ['never', () => Infinity],
    ['between two milliseconds', () => now + 0.5],
    ['beyond what a number can count', () => 2 ** 53],
  ])('refuses a time of expiry that is %s', async (_, expiresAt) => {
    await expect(apiKeys.create('ci', expiresAt())).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'the time of expiry must be in the future, in whole milliseconds',
    });
    expect(await apiKeys.list()).toEqual([]);
  });
});

describe('createFirst', () => {
  test('makes a key in a store that never had one', async () => {
    const issued = await apiKeys.createFirst('first');
    expect(issued).toMatchObject({ about: { name: 'first' } });
    expect(await repository.verify(issued?.key ?? '')).toMatchObject({ name: 'first' });
  });

  test('makes none in a store that had one, even if it is over', async () => {
    const { about } = await apiKeys.create('ci');
    await apiKeys.revoke(about.id);
    expect(await apiKeys.createFirst('first')).toBeUndefined();
    expect(await apiKeys.list()).toHaveLength(1);
  });
});

describe('rotate', () => {
  test('makes a key of the same name and ends the old one after the overlap', async () => {
    const old = await apiKeys.create('ci');
    const { key, about } = await apiKeys.rotate(old.about.id, HOUR);
    expect(about).toMatchObject({ name: 'ci', createdAt: now });
    expect(about.expiresAt).toBeUndefined();
    expect(about.id).not.toBe(old.about.id);
    expect(await apiKeys.list()).toMatchObject([
      { id: old.about.id, expiresAt: now + HOUR },
      { id: about.id },
    ]);
    expect(await repository.verify(old.key)).toMatchObject({ id: old.about.id });
    expect(await repository.verify(key)).toMatchObject({ id: about.id });
  });

  test('ends the old one at once when there is no overlap', async () => {
    const old = await apiKeys.create('ci');
    const { key } = await apiKeys.rotate(old.about.id, 0);
    expect(await repository.verify(old.key)).toBeUndefined();
    expect(await repository.verify(key)).toBeDefined();
  });

  test('never lets the old one live longer', async () => {
    const old = await apiKeys.create('ci', now + 1);
    await apiKeys.rotate(old.about.id, HOUR);
    expect((await apiKeys.list())[0]).toMatchObject({ expiresAt: now + 1 });
  });

  test('there must be such a key', async () => {
    await expect(apiKeys.rotate('7', 0)).rejects.toMatchObject({
      code: 'not_found',
      message: 'there is no key with id 7',
    });
    expect(await apiKeys.list()).toEqual([]);
  });

  test('there must still be such a key when it is replaced', async () => {
    class Racing extends MemoryApiKeyRepository {
      override async replace(): Promise<undefined> {}
    }
    const raced = new ApiKeys(new Racing(), () => now);
    const { about } = await raced.create('ci');
    await expect(raced.rotate(about.id, 0)).rejects.toMatchObject({ code: 'not_found' });
  });

  test('a key that is revoked just before it is replaced stays revoked, and there is no new one', async () => {
    class Racing extends MemoryApiKeyRepository {
      override async replace(...args: Parameters<MemoryApiKeyRepository['replace']>) {
        await this.revoke(args[0], now);
        return super.replace(...args);
      }
    }
    const raced = new ApiKeys(new Racing(), () => now);
    const { about } = await raced.create('ci');
    await expect(raced.rotate(about.id, HOUR)).rejects.toMatchObject({
      code: 'invalid_request',
      message: `key ${about.id} is revoked or expired: create a new one`,
    });
    expect(await raced.list()).toMatchObject([{ id: about.id, revokedAt: now }]);
  });

  test('of several keys, the one with the id is rotated', async () => {
    const names = ['Anna', 'Bert', 'Carla'];
    const issued = [];
    for (const name of names) issued.push(await apiKeys.create(name));
    const { about } = await apiKeys.rotate(issued[1]?.about.id ?? '', 0);
    expect(about.name).toBe('Bert');
    const holders = await Promise.all(issued.map(({ key }) => repository.verify(key)));
    expect(holders.map((holder) => holder?.name)).toEqual(['Anna', undefined, 'Carla']);
  });

  test('the new key can have an expiry of its own, which is ahead', async () => {
    const old = await apiKeys.create('ci', now + HOUR);
    const { about } = await apiKeys.rotate(old.about.id, 0, now + 2 * HOUR);
    expect(about.expiresAt).toBe(now + 2 * HOUR);
    await expect(apiKeys.rotate(about.id, 0, now)).rejects.toMatchObject({ code: 'invalid_request' });
    expect(await apiKeys.list()).toHaveLength(2);
  });

  test('gives the new key the name of the old one, even if that name could not be given today', async () => {
    const old = await repository.add('some key', { name: ' ', hint: 'some', createdAt: now });
    expect((await apiKeys.rotate(old.id, 0)).about.name).toBe(' ');
  });

  test('a key that is over cannot be rotated', async () => {
    const revoked = await apiKeys.create('revoked');
    await apiKeys.revoke(revoked.about.id);
    const expired = await apiKeys.create('expired', now + 1);
    now += 1;
    for (const { about } of [revoked, expired]) {
      await expect(apiKeys.rotate(about.id, 0)).rejects.toMatchObject({
        code: 'invalid_request',
        message: `key ${about.id} is revoked or expired: create a new one`,
      });
    }
    expect(await apiKeys.list()).toHaveLength(2);
  });

  test.each([-1, 0.5, Number.NaN, Infinity])('the overlap cannot be %s', async (overlap) => {
    const { about } = await apiKeys.create('ci');
    await expect(apiKeys.rotate(about.id, overlap)).rejects.toMatchObject({
      code: 'invalid_request',
      message: 'the overlap must be 0 or more whole milliseconds',
    });
    expect(await apiKeys.list()).toEqual([about]);
  });
});

describe('revoke', () => {
  test('ends a key now', async () => {
    const { key, about } = await apiKeys.create('ci');
    expect(await apiKeys.revoke(about.id)).toMatchObject({ id: about.id, revokedAt: now });
    expect(await repository.verify(key)).toBeUndefined();
  });

  test('ending it again changes nothing', async () => {
    const { about } = await apiKeys.create('ci');
    const revoked = await apiKeys.revoke(about.id);
    now += HOUR;
    expect(await apiKeys.revoke(about.id)).toEqual(revoked);
  });

  test('there must be such a key', async () => {
    await expect(apiKeys.revoke('7')).rejects.toMatchObject({ code: 'not_found' });
  });
});
