/**
 * Runs the contract suites of pets over HTTP, against a real server in memory, and at night on each storage.
 */

import { describe, expect, onTestFinished, test } from 'vitest';
import { openApiStorage } from '../../../src/adapters/api-client/index.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import type { StoreStorage } from '../../../src/application/ports/storage.ts';
import { numberedPet, numberOf } from '../../../src/testing/fixtures/pets.ts';
import {
  differentialContract,
  historyContract,
  type Opened,
  petRepositoryContract,
  type Subject,
} from '../../../src/testing/index.ts';
import { IS_WHOLE } from '../../support/extent.ts';
import { CHANGING } from '../../support/lifecycle.ts';
import { numberedChange, REX } from '../../support/pets.ts';
import { STORAGES, startServer } from '../../support/server.ts';

const KEYED = ['idempotentCreates', 'idempotentChanges', 'idempotencyRecords'] as const;

interface Address {
  readonly base: string;
  readonly apiKey: string;
}

describe.each(IS_WHOLE ? STORAGES : (['memory'] as const))('over HTTP on %s', (kind) => {
  const subjectOf = <Port>(portOf: (storage: StoreStorage) => Port): Subject<Port> => {
    const addresses = new WeakMap<Opened<Port>, Address>();
    const openAt = (address: Address): Opened<Port> => {
      const storage = openApiStorage(address.base, { apiKey: address.apiKey, timeout: 280_000 });
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
    // Without idempotency keys: the clock of the server, not that of the model, decides when a record ends.
    ...differentialContract(
      subjectOf(({ pets, check, close }) => ({ pets, check, close })),
      { lacks: [...KEYED, 'apiKeys', 'transfer', 'changes'], steps: 60 },
    ),
  ];
  // Each case makes many calls through the API, on a machine that can be busy.
  for (const { name, run } of cases) test(name, run, 300_000);

  test('changes, removals and their feed are those of the store of the server', async () => {
    const { origin, key, store } = await startServer(kind, { ...CHANGING });
    const client = new AnimalStore(openApiStorage(`${origin}/v1`, { apiKey: key }));
    onTestFinished(() => client.close());
    const { id } = await client.createPet(numberedPet(0n));
    const increments = Array.from({ length: 10 }, () =>
      client.changePet(id, (pet) => numberedChange(numberOf(pet) + 1n)),
    );
    const tags = (await Promise.all(increments)).map(({ etag }) => etag);
    expect(numberOf(await store.getPet(id))).toBe(10n);
    const options = { idempotencyKey: 'k' };
    const changed = await client.changePet(id, numberedChange(50), options);
    expect(changed).toEqual(await store.changePet(id, {}));
    const stale = client.changePet(id, numberedChange(60), { ifMatch: tags[0] });
    await expect(stale).rejects.toMatchObject({ code: 'precondition_failed' });
    const other = client.changePet(id, numberedChange(60), options);
    await expect(other).rejects.toMatchObject({ code: 'idempotency_conflict' });
    await client.changePet(id, numberedChange(60));
    expect(await client.changePet(id, numberedChange(50), options)).toEqual(changed);
    await Promise.all(Array.from({ length: 3 }, () => client.createPet(REX)));
    const first = await client.listChanges({ limit: 2 });
    expect(first).toEqual(await store.listChanges({ limit: 2 }));
    expect(first.more).toBe(true);
    const { changes } = await client.listChanges({ after: first.next });
    expect([...first.changes, ...changes]).toEqual((await store.listChanges()).changes);
    await client.removePet(id, { ifMatch: tags[0] }).catch(() => client.removePet(id));
    await client.removePet(id);
    expect((await client.listChanges()).changes.at(-1)).toMatchObject({ removed: id });
    await store.beginEpoch();
    const listing = client.listChanges({ after: first.next });
    await expect(listing).rejects.toMatchObject({ code: 'restart_required' });
  });
});
