import { describe, expect, test } from 'vitest';
import {
  STORAGE_FAULT_REASONS,
  StorageFault,
  storageFaultReason,
} from '../../../src/application/ports/storage-fault.ts';
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

  test.each(STORAGE_FAULT_REASONS)('reports the reason %s, and nothing else', async (reason) => {
    const fault = new StorageFault(reason, 'secret', { cause: 'secret' });
    expect(await bodyWhenCheckRejects(fault)).toBe(`{"status":"unavailable","reason":"${reason}"}`);
  });

  test('reports the reason of a fault of another copy of the class', async () => {
    const foreign = Object.assign(new Error('secret'), { name: 'AnimalStoreError', reason: 'disk_full' });
    expect(await bodyWhenCheckRejects(foreign)).toBe('{"status":"unavailable","reason":"disk_full"}');
  });

  test.each([
    ['no reason', new AnimalStoreError('storage_unavailable', 'secret')],
    ['a reason that is not in the list', Object.assign(new Error('secret'), { reason: '/secret/pets.db' })],
    ['a reason that is not a string', Object.assign(new Error('secret'), { reason: ['disk_full'] })],
    ['an object that is not an error', { reason: 'disk_full' }],
    ['undefined', undefined],
  ])('reports the reason "storage" if there is %s', async (_, error) => {
    expect(storageFaultReason(error)).toBeUndefined();
    expect(await bodyWhenCheckRejects(error)).toBe('{"status":"unavailable","reason":"storage"}');
  });
});
