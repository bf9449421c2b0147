import { describe, expect, test } from 'vitest';
import { MemoryApiKeyRepository } from '../../src/adapters/memory/api-key-repository.ts';
import { openMemoryStorage } from '../../src/adapters/memory/storage.ts';
import { apiKeyRepositoryContract } from '../../src/testing/api-key-repository.ts';
import { petRepositoryContract } from '../../src/testing/pet-repository.ts';
import { petTransferContract } from '../../src/testing/pet-transfer.ts';

describe('PetRepository in memory', () => {
  const open = async () => ({ port: openMemoryStorage().pets, close: async () => {} });
  for (const { name, run } of petRepositoryContract({ open })) test(name, run);
});

describe('ApiKeyRepository in memory', () => {
  const open = async () => ({ port: openMemoryStorage().apiKeys, close: async () => {} });
  for (const { name, run } of apiKeyRepositoryContract({ open })) test(name, run);
});

describe('PetTransfer in memory', () => {
  const open = async () => ({ port: openMemoryStorage(), close: async () => {} });
  for (const { name, run } of petTransferContract({ open })) test(name, run);
});

test('the storage can always serve, and can be closed again and again', async () => {
  const storage = openMemoryStorage();
  await storage.check();
  await storage.close();
  await storage.close();
});

test('keys can have any shape and ids a prefix, for those that an operator brings along', async () => {
  const keys = new MemoryApiKeyRepository('config-');
  const key = 'correct horse battery staple, 32+';
  const about = await keys.add(key, { name: 'ops', hint: 'correct h', createdAt: 0 });
  expect(about.id).toBe('config-1');
  expect(await keys.verify(key)).toMatchObject({ id: 'config-1', name: 'ops' });
});
