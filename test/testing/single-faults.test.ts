/** A storage with one of these faults fails the contract cases that are about it, and no others. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import type { Pet } from '../../src/domain/pet.ts';
import {
  type ContractCase,
  idempotentChangesContract,
  type Opened,
  petChangesContract,
  type Subject,
  storageContract,
} from '../../src/testing/index.ts';
import { type Fault, withMethod } from './faulty.ts';

/** Opens clients of a store in memory, each with the fault. */
function subjectOf(fault: Fault): Required<Pick<Subject<Storage>, 'open' | 'openSecond' | 'reopen'>> {
  const stores = new WeakMap<Opened<Storage>, Storage>();
  const openClient = (storage: Storage): Opened<Storage> => {
    const port = { ...storage, ...fault(storage) };
    const opened = { port, close: () => port.close() };
    stores.set(opened, storage);
    return opened;
  };
  const openAgain = async (other: Opened<Storage>) => openClient(stores.get(other) as Storage);
  return { open: async () => openClient(openMemoryStorage()), openSecond: openAgain, reopen: openAgain };
}

async function failedCases(cases: readonly ContractCase[]): Promise<string[]> {
  const results = await Promise.allSettled(cases.map(({ run }) => run()));
  return cases.flatMap(({ name }, index) => (results[index]?.status === 'rejected' ? name : []));
}

const EXHAUSTED = 'when all numbers have been assigned, nothing is written, and the check says so';
const CLOSED = 'check resolves until close, which can be repeated, and then every method rejects';
const ACCEPTED = 'writes that were accepted before close are completed';
const COMPLETED = 'writes that were completed by close are stored';
const WRITES = [
  'pets.add',
  'idempotentCreates.add',
  'changes.replace',
  'changes.remove',
  'idempotentChanges.replace',
  'idempotentChanges.remove',
];

test.each([
  ...WRITES.map((name) => [name, [EXHAUSTED, CLOSED]] as const),
  ...['changes.find', 'changes.list', 'changes.beginEpoch'].map((name) => [name, [CLOSED]] as const),
  ...['idempotentChanges.find', 'idempotentChanges.record'].map((name) => [name, [CLOSED]] as const),
])('%s that resolves when it fails', async (name, failed) => {
  const fault = withMethod(
    name,
    (method) =>
      (...args) =>
        method(...args).catch(() => ({})),
  );
  const { open } = subjectOf(fault);
  expect(await failedCases(storageContract({ open }))).toEqual(failed);
});

test.each([
  ...[...WRITES, 'apiKeys.add'].map((name) => [name, [COMPLETED]] as const),
  ['pets.list', []] as const,
])('%s that resolves when close prevents it', async (name, failed) => {
  const dropping: Fault = (storage) => {
    let isClosed = false;
    const method = withMethod(name, (write) => async (...args) => {
      await nextTurn();
      return isClosed ? {} : write(...args);
    });
    const close = async () => {
      isClosed = true;
    };
    return { ...method(storage), close };
  };
  const { open, reopen } = subjectOf(dropping);
  const completed = storageContract({ open, reopen }).filter((each) => each.name === COMPLETED);
  expect(await failedCases(completed)).toEqual(failed);
});

const importAfterRemoval = withMethod('transfer.importPets', (importPets, { pets, changes }) => {
  return async (batches, options) => {
    const isEmptied =
      (await changes.list({ limit: 1 })).lastNumber > 0n && !(await pets.list({ limit: 1 })).pets[0];
    return await (isEmptied
      ? openMemoryStorage().transfer.importPets(batches, options)
      : importPets(batches, options));
  };
});

const skipAfterRemoval = withMethod('pets.list', (list, { changes }) => async (query) => {
  const page = await list(query);
  const version = query.after === undefined ? undefined : await changes.find(query.after);
  return version === undefined || version.pet ? page : { ...page, pets: page.pets.slice(1) };
});

const unseenRemoval: Fault = (storage) => {
  const seen = new Map<bigint, Pet>();
  const remove = withMethod('changes.remove', (method) => (id, expected) => {
    seen.delete(id);
    return method(id, expected);
  });
  const find = withMethod('pets.find', (method) => async (id) => {
    const pet = (await method(id)) ?? seen.get(id);
    if (pet !== undefined) seen.set(id, pet);
    return pet;
  });
  return { ...remove(storage), ...find(storage) };
};

const lateRemoval = withMethod('idempotentChanges.remove', (remove, { changes }) => {
  return async (id, expected, by) => {
    const version = await changes.find(id);
    if (version?.revision !== expected) return undefined;
    return await remove(id, (await changes.find(id))?.revision, by);
  };
});

const lateRecord = withMethod('idempotentChanges.record', (record, { idempotentChanges: writes }) => {
  return async (id, input, by) => {
    const pet = input && { ...input };
    if ((await writes.find(id, by)).record !== undefined) return false;
    await record(id, pet, by);
    return true;
  };
});

const thawing = (part: 'record' | 'version') =>
  withMethod('idempotentChanges.find', (find) => async (...args) => {
    const found = await find(...args);
    const { [part]: frozen } = found;
    return { ...found, [part]: frozen && { ...frozen, pet: frozen.pet && { ...frozen.pet } } };
  });
const ONE_WINS = 'of two writes of one version or key, one is made';
const FROZEN = 'found pets are frozen, and changing the input after the call changes none of them';

test.each<[fault: string, Fault, ...failed: string[]]>([
  [
    'an import of ids into a store whose pets were removed',
    importAfterRemoval,
    'an import of ids is refused when the store has had a pet, even if it was removed',
  ],
  [
    'a list that skips a pet after a removed one',
    skipAfterRemoval,
    'a list after the id of a removed pet begins with the next pet',
  ],
  [
    'a removal that other clients do not see',
    unseenRemoval,
    'a change and a removal of one client are seen by another one',
  ],
  ['a removal that compares before its transaction', lateRemoval, ONE_WINS, ACCEPTED],
  ['a record that looks for another one before its transaction', lateRecord, ONE_WINS],
  ['a record with a pet that callers can change', thawing('record'), FROZEN],
  ['a version with a pet that callers can change', thawing('version'), FROZEN],
])('%s', async (_, fault, ...failed) => {
  const { open, openSecond } = subjectOf(fault);
  const cases = [petChangesContract, idempotentChangesContract, storageContract].flatMap((contract) =>
    contract({ open, openSecond }),
  );
  expect(await failedCases(cases)).toEqual(failed);
});
