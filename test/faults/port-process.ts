/** A process that calls the ports of a storage for a test: `PortProcess` starts it. */

import { openPostgresStorage } from '../../src/adapters/postgres/index.ts';
import { openSqliteStorage } from '../../src/adapters/sqlite/index.ts';
import { asAnimalStoreError } from '../../src/domain/errors.ts';
import type { PortCall, PortReply } from './port-processes.ts';

const [url = ''] = process.argv.slice(2);
const openStorage = async () => {
  if (!url.startsWith('sqlite:')) return await openPostgresStorage(url);
  return openSqliteStorage(url.slice('sqlite:'.length));
};
const storage = await openStorage();
const reply = (message: PortReply): void => void process.send?.(message);

process.on('message', async ({ number, port, method, args }: PortCall) => {
  const called = storage[port] as unknown as Record<string, (...args: readonly unknown[]) => unknown>;
  try {
    reply({ number, result: await called[method]?.(...args) });
  } catch (error) {
    reply({ number, code: asAnimalStoreError(error)?.code ?? 'internal_error', message: String(error) });
  }
});
// The test has ended.
process.once('disconnect', () => process.exit());
reply({ number: 0 });
