import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { MemoryApiKeyRepository } from '../../src/adapters/memory/index.ts';
import { ApiKeys } from '../../src/application/api-keys.ts';
import { VerifyApiKey } from '../../src/application/verify-api-key.ts';
import { API_KEY_BYTES, formatApiKey } from '../../src/domain/api-key.ts';
import { AnimalStoreError } from '../../src/domain/errors.ts';

const HOUR = 60 * 60 * 1000;
const DAY = 24 * HOUR;
const MIDNIGHT = Date.UTC(2030, 0, 1);

/** Counts the calls, and can fail. */
class Repository extends MemoryApiKeyRepository {
  finds = 0;
  uses: [id: string, day: number][] = [];
  failure: Error | undefined;
  outage: Error | undefined;

  override find(key: string) {
    this.finds += 1;
    return this.outage ? Promise.reject(this.outage) : super.find(key);
  }

  override async setLastUsedOn(id: string, day: number) {
    this.uses.push([id, day]);
    if (this.failure !== undefined) throw this.failure;
    return super.setLastUsedOn(id, day);
  }
}

let repository: Repository;
let apiKeys: ApiKeys;
let verifyApiKey: VerifyApiKey;
let now: number;
const report = vi.fn();

beforeEach(() => {
  now = MIDNIGHT + HOUR;
  report.mockClear();
  repository = new Repository();
  verifyApiKey = new VerifyApiKey(repository, () => now, report);
  apiKeys = new ApiKeys(
    repository,
    () => now,
    (id) => verifyApiKey.forget(id),
  );
});

async function lastUsedOn(): Promise<number | undefined> {
  return (await repository.list())[0]?.lastUsedOn;
}

describe('verify', () => {
  test('resolves with the key holder of an active key, and with undefined from the moment at which it expires', async () => {
    await apiKeys.create('other');
    const { key, about } = await apiKeys.create('ci', now + HOUR);
    now += HOUR - 1;
    expect(await verifyApiKey.verify(key)).toMatchObject({ id: about.id, name: 'ci' });
    now += 1;
    expect(await verifyApiKey.verify(key)).toBeUndefined();
  });

  test('does not read the storage for a string that is not a key', async () => {
    const { key } = await apiKeys.create('ci');
    await repository.add('some key', { name: 'ops', prefix: 'some', createdAt: 0 });
    for (const text of ['', 'some key', key.slice(0, -1), `${key} `, key.toUpperCase()])
      expect(await verifyApiKey.verify(text)).toBeUndefined();
    expect(repository.finds).toBe(0);
  });

  test('uses the current time by default', async () => {
    const { key } = await new ApiKeys(repository).create('ci', Date.now() + HOUR);
    expect(await new VerifyApiKey(repository).verify(key)).toBeDefined();
  });
});

describe('during an outage', () => {
  const OUTAGE = new AnimalStoreError('storage_unavailable', 'the storage failed');
  const DURING_OUTAGE = { duringOutage: true };

  /** Verifies a key, calls `act`, and lets `later` ms pass. Returns the holder during an outage, or the error. */
  async function holderAfter(act: (id: string, key: string) => unknown, later = 0, expiresAt?: number) {
    const { key, about } = await apiKeys.create('prometheus', expiresAt);
    await verifyApiKey.verify(key);
    await act(about.id, key);
    now += later;
    repository.outage = OUTAGE;
    await expect(verifyApiKey.verify(key)).rejects.toBe(OUTAGE);
    return await verifyApiKey.verify(key, DURING_OUTAGE).catch((error: unknown) => error);
  }

  test.each([
    ['at once', 0],
    ['for 24 hours', DAY - 1],
  ])('a key that was verified is accepted where the caller asks for it: %s', async (_, later) => {
    expect(await holderAfter(() => {}, later)).toMatchObject({ name: 'prometheus' });
  });

  test.each<[string, ...Parameters<typeof holderAfter>]>([
    ['was revoked here', (id) => apiKeys.revoke(id)],
    ['was rotated here', (id) => apiKeys.rotate(id, HOUR)],
    [
      'may have been revoked here',
      (id) => {
        vi.spyOn(repository, 'revoke').mockRejectedValue(OUTAGE);
        return apiKeys.revoke(id).catch(() => {});
      },
    ],
    [
      'was seen to be revoked elsewhere',
      async (id, key) => {
        await repository.revoke(id, now);
        await verifyApiKey.verify(key);
      },
    ],
    [
      'was revoked while it was verified',
      async (id, key) => {
        const { promise, resolve } = Promise.withResolvers<void>();
        const about = await repository.find(key);
        vi.spyOn(repository, 'find').mockImplementationOnce(() => promise.then(() => about));
        const verified = verifyApiKey.verify(key);
        await apiKeys.revoke(id);
        resolve();
        await verified;
      },
    ],
    ['was verified 24 hours ago', () => {}, DAY],
    ['has expired', () => {}, HOUR, MIDNIGHT + 2 * HOUR],
  ])('a key is not accepted that %s', async (_, ...parameters) => {
    expect(await holderAfter(...parameters)).toBe(OUTAGE);
  });

  test('a key that was never verified, and the one that was not used for the longest time, are not accepted', async () => {
    const [never, first] = [await apiKeys.create('never'), await apiKeys.create('first')];
    await verifyApiKey.verify(first.key);
    const find = vi.spyOn(repository, 'find').mockResolvedValue(first.about);
    const others = Array.from({ length: 10_000 }, () =>
      formatApiKey(crypto.getRandomValues(new Uint8Array(API_KEY_BYTES))),
    );
    for (const key of others) await verifyApiKey.verify(key);
    find.mockRestore();
    repository.outage = OUTAGE;
    for (const key of [never.key, first.key])
      await expect(verifyApiKey.verify(key, DURING_OUTAGE)).rejects.toBe(OUTAGE);
    expect(await verifyApiKey.verify(others[0] ?? '', DURING_OUTAGE)).toEqual(first.about);
  });
});

describe('the last use', () => {
  test('is written once per day and key', async () => {
    const [one, two] = [await apiKeys.create('one'), await apiKeys.create('two')];
    for (const day of [MIDNIGHT, MIDNIGHT + DAY]) {
      for (const time of [day, day + HOUR, day + DAY - 1]) {
        now = time;
        await verifyApiKey.verify(one.key);
        await verifyApiKey.verify(two.key);
        expect(repository.uses.at(-1)).toEqual([two.about.id, day]);
      }
    }
    const expected = [MIDNIGHT, MIDNIGHT + DAY].flatMap((day) => [
      [one.about.id, day],
      [two.about.id, day],
    ]);
    expect(repository.uses).toEqual(expected);
    // Another process reads the day.
    await new VerifyApiKey(repository, () => now).verify(one.key);
    expect(repository.uses).toEqual(expected);
  });

  test('is written once when the repository returns an old day for a while', async () => {
    const { key, about } = await apiKeys.create('ci');
    repository.find = async () => about;
    for (let times = 0; times < 3; times++) await verifyApiKey.verify(key);
    expect(repository.uses).toHaveLength(1);
  });

  test('is written again a minute after a failed write, which does not affect the caller', async () => {
    const { key } = await apiKeys.create('ci');
    repository.failure = new Error('the disk failed');
    for (let times = 0; times < 3; times++) expect(await verifyApiKey.verify(key)).toBeDefined();
    expect(repository.uses).toHaveLength(1);
    expect(report.mock.calls).toEqual([['recording the last use of an API key', repository.failure]]);
    repository.failure = undefined;
    now += 59_999;
    await verifyApiKey.verify(key);
    expect(repository.uses).toHaveLength(1);
    now += 1;
    for (let times = 0; times < 3; times++) await verifyApiKey.verify(key);
    expect(await lastUsedOn()).toBe(MIDNIGHT);
    expect(repository.uses).toHaveLength(2);
  });

  test('is written for one key after the other, and none waits for a write that hangs', async () => {
    const [one, two] = [await apiKeys.create('one'), await apiKeys.create('two')];
    const writes: [id: string, end: () => void][] = [];
    repository.setLastUsedOn = (id) => new Promise<void>((resolve) => writes.push([id, resolve]));
    const written = () => writes.map(([id]) => id);
    for (const { key } of [one, two, one, two]) expect(await verifyApiKey.verify(key)).toBeDefined();
    expect(written()).toEqual([one.about.id]);
    writes[0]?.[1]();
    await nextTurn();
    expect(written()).toEqual([one.about.id, two.about.id]);
    writes[1]?.[1]();
  });

  test('is written for a new day that begins during the write of the last one', async () => {
    const { key, about } = await apiKeys.create('ci');
    const { promise, resolve } = Promise.withResolvers<void>();
    const write = vi.spyOn(repository, 'setLastUsedOn').mockReturnValueOnce(promise);
    await verifyApiKey.verify(key);
    now += DAY;
    await verifyApiKey.verify(key);
    expect(write).toHaveBeenCalledOnce();
    resolve();
    await nextTurn();
    await verifyApiKey.verify(key);
    expect(write.mock.calls).toEqual([MIDNIGHT, MIDNIGHT + DAY].map((day) => [about.id, day]));
  });

  test('is written for at most 1000 keys while a write hangs', async () => {
    const { key, about } = await apiKeys.create('ci');
    let id = 0;
    repository.find = async () => ({ ...about, id: String(id) });
    const { promise, resolve } = Promise.withResolvers<void>();
    const write = vi.spyOn(repository, 'setLastUsedOn').mockReturnValue(promise);
    for (; id <= 1000; id++) await verifyApiKey.verify(key);
    resolve();
    await nextTurn();
    expect(write).toHaveBeenCalledTimes(1000);
  });

  test('is remembered for a limited number of keys', async () => {
    const { key, about } = await apiKeys.create('ci');
    let id = 0;
    repository.find = async () => ({ ...about, id: String(id) });
    for (; id <= 1000; id++) await verifyApiKey.verify(key);
    await nextTurn();
    expect(repository.uses).toHaveLength(1001);
    // The limit was reached, so the first key is not remembered any more. The last one is.
    for (id of [0, 1000]) await verifyApiKey.verify(key);
    await nextTurn();
    expect(repository.uses).toHaveLength(1002);
  });
});
