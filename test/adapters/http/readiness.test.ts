import { describe, expect, test } from 'vitest';
import {
  STORAGE_FAULT_REASONS,
  StorageFault,
  storageFaultReason,
} from '../../../src/application/storage-fault.ts';
import { AnimalStoreError } from '../../../src/domain/errors.ts';
import { STORAGES, startServer } from '../../support/server.ts';

describe.each(STORAGES)('/readyz on %s', (kind) => {
  async function bodyWhenCheckRejects(error: unknown): Promise<string> {
    const { client } = await startServer(kind, {
      wrap: (store) => ({ ...store, check: () => Promise.reject(error) }),
    });
    const { status, headers, body } = await client.request('GET', '/readyz', { key: null });
    expect({ status, headers }).toMatchObject({ status: 503, headers: { 'retry-after': '1' } });
    return body;
  }

  test.each(STORAGE_FAULT_REASONS)('tells the reason %s, and nothing else', async (reason) => {
    const fault = new StorageFault(reason, 'secret', { cause: 'secret' });
    expect(await bodyWhenCheckRejects(fault)).toBe(`{"status":"unavailable","reason":"${reason}"}`);
  });

  test('tells the reason of a fault that another copy of the class made', async () => {
    const foreign = Object.assign(new Error('secret'), { name: 'AnimalStoreError', reason: 'disk_full' });
    expect(await bodyWhenCheckRejects(foreign)).toBe('{"status":"unavailable","reason":"disk_full"}');
  });

  test.each([
    ['no reason', new AnimalStoreError('storage_unavailable', 'secret')],
    ['a reason that is not in the list', Object.assign(new Error('secret'), { reason: '/secret/pets.db' })],
    ['a reason that is no text', Object.assign(new Error('secret'), { reason: ['disk_full'] })],
    ['no error', { reason: 'disk_full' }],
    ['nothing', undefined],
  ])('says that it is the storage when there is %s', async (_, error) => {
    expect(storageFaultReason(error)).toBeUndefined();
    expect(await bodyWhenCheckRejects(error)).toBe('{"status":"unavailable","reason":"storage"}');
  });
});
