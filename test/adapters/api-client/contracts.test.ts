/**
 * Runs the contract suites of pets over HTTP, against a real server in memory, and at night on each storage.
 */

import { describe, test } from 'vitest';
import { openApiStorage } from '../../../src/adapters/api-client/index.ts';
import type { StoreStorage } from '../../../src/application/ports/storage.ts';
import {
  differentialContract,
  historyContract,
  type Opened,
  petRepositoryContract,
  type Subject,
} from '../../../src/testing/index.ts';
import { IS_WHOLE } from '../../support/extent.ts';
import { STORAGES, startServer } from '../../support/server.ts';

interface Address {
  readonly base: string;
  readonly apiKey: string;
}

describe.each(IS_WHOLE ? STORAGES : (['memory'] as const))('over HTTP on %s', (kind) => {
  const subjectOf = <Port>(portOf: (storage: StoreStorage) => Port): Subject<Port> => {
    const addresses = new WeakMap<Opened<Port>, Address>();
    const openAt = (address: Address): Opened<Port> => {
      const storage = openApiStorage(address.base, {
        apiKey: address.apiKey,
        timeout: 280_000,
        onDeprecation: () => {},
      });
      const opened = { port: portOf(storage), close: () => storage.close() };
      addresses.set(opened, address);
      return opened;
    };
    const openAgain = async (of: Opened<Port>) => openAt(addresses.get(of) as Address);
    const open = async () => {
      const { origin, key } = await startServer(kind);
      return openAt({ base: `${origin}/v1`, apiKey: key });
    };
    return { open, reopen: openAgain, openSecond: openAgain };
  };
  const cases = [
    ...petRepositoryContract(subjectOf(({ pets }) => pets)),
    ...historyContract(subjectOf((storage) => storage)),
    // The server decides when a record ends, so its clock would be compared with that of the model.
    ...differentialContract(
      subjectOf(({ pets, check, close }) => ({ pets, check, close })),
      {
        lacks: [
          'idempotentCreates',
          'idempotencyRecords',
          'apiKeys',
          'transfer',
          'changes',
          'idempotentChanges',
        ],
        steps: 60,
      },
    ),
  ];
  // Each of many calls goes through the API, on a machine that may stand still.
  for (const { name, run } of cases) test(name, run, 300_000);
});
