import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { findTracing } from '../../../src/adapters/tracing/index.ts';
import { testContracts } from '../../support/contracts.ts';
import { registerSdk } from './fake-sdk.ts';

testContracts('in memory, with spans', (portOf) => ({
  async open() {
    registerSdk();
    const storage = findTracing('memory', '1.0.0')?.traceStorage(openMemoryStorage());
    if (storage === undefined) throw new Error('the SDK was not found');
    return { port: portOf(storage), close: () => storage.close() };
  },
}));
