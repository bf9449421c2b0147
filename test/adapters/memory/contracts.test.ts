import { expect, test } from 'vitest';
import { MemoryApiKeyRepository, openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { testContracts } from '../../support/contracts.ts';

testContracts('in memory', (portOf) => ({
  async open() {
    const storage = openMemoryStorage();
    return { port: portOf(storage), close: () => storage.close() };
  },
}));

test('more keys than are cached are all found', async () => {
  const keys = new MemoryApiKeyRepository();
  const names = Array.from({ length: 1005 }, (_, index) => `key ${index}`);
  for (const name of names) await keys.add(name, { name, prefix: '', createdAt: 0 });
  for (const name of [...names, ...names.slice(0, 5)]) expect(await keys.find(name)).toMatchObject({ name });
});
