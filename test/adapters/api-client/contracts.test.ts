/** Runs the contract suite of the pet repository over HTTP, against a real server on each storage. */

import { describe, test } from 'vitest';
import { openApiStorage } from '../../../src/adapters/api-client/index.ts';
import type { PetRepository } from '../../../src/application/ports/pet-repository.ts';
import { type Opened, petRepositoryContract } from '../../../src/testing/index.ts';
import { STORAGES, startServer } from '../../support/server.ts';

interface Address {
  readonly base: string;
  readonly apiKey: string;
}

describe.each(STORAGES)('PetRepository over HTTP on %s', (kind) => {
  const addresses = new WeakMap<Opened<PetRepository>, Address>();
  const openAt = (address: Address): Opened<PetRepository> => {
    const storage = openApiStorage(address.base, { apiKey: address.apiKey, onDeprecation: () => {} });
    const opened = { port: storage.pets, close: () => storage.close() };
    addresses.set(opened, address);
    return opened;
  };
  const openAgain = async (of: Opened<PetRepository>) => openAt(addresses.get(of) as Address);
  const cases = petRepositoryContract({
    async open() {
      const { origin, key } = await startServer(kind);
      return openAt({ base: `${origin}/v1`, apiKey: key });
    },
    reopen: openAgain,
    openSecond: openAgain,
  });
  for (const { name, run } of cases) test(name, run);
});
