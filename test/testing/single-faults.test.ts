/** A storage with one of these faults fails the contract cases that are about it, and no others. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import type { MemoryPetRepository } from '../../src/adapters/memory/pet-repository.ts';
import type { AttemptState } from '../../src/application/ports/idempotent-changes.ts';
import type { ChangesPage } from '../../src/application/ports/pet-changes.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import type { Pet } from '../../src/domain/pet.ts';
import { matches, PET_FILTERS } from '../../src/domain/pet-filter.ts';
import { byId } from '../../src/testing/fixtures/pets.ts';
import {
  type ContractCase,
  changeHistoryContract,
  differentialContract,
  idempotentChangesContract,
  type Opened,
  petChangesContract,
  type Subject,
  storageContract,
} from '../../src/testing/index.ts';
import {
  changing,
  type Fault,
  preceding,
  type Replace,
  withMethod,
  withMethods,
  withResult,
} from './faulty.ts';

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
  ...['pets.add', 'idempotentCreates.add', 'changes.replace', 'changes.remove'],
  ...['idempotentChanges.replace', 'idempotentChanges.remove'],
];

test.each([
  ...WRITES.map((name) => [name, [EXHAUSTED, CLOSED]] as const),
  ...['changes.find', 'changes.list', 'changes.beginEpoch'].map((name) => [name, [CLOSED]] as const),
  ...['idempotentChanges.find', 'idempotentChanges.record'].map((name) => [name, [CLOSED]] as const),
])('%s that resolves when it fails', async (name, failed) => {
  const fault = withMethod(name, (method) => (...args) => {
    return method(...args).catch(() => ({}));
  });
  const { open } = subjectOf(fault);
  expect(await failedCases(storageContract({ open }))).toEqual(failed);
});

test.each<[name: string, failed: readonly string[], instead?: Replace]>([
  ...[...WRITES, 'apiKeys.add'].map((name) => [name, [COMPLETED]] as [string, readonly string[]]),
  // Stores the change without its record.
  ['idempotentChanges.replace', [COMPLETED], (_, { changes }) => changes.replace.bind(changes)],
  ['pets.list', []],
])('%s that resolves when close prevents it', async (name, failed, instead = () => () => ({})) => {
  const dropping: Fault = (storage) => {
    let isClosed = false;
    const method = withMethod(name, (write) => async (...args) => {
      await nextTurn();
      return isClosed ? instead(write, storage)(...args) : write(...args);
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

const memoryOf = ({ pets }: Storage) => pets as MemoryPetRepository;
const lastPetOf = (storage: Storage) => memoryOf(storage).selectNow(Boolean).at(-1)?.id;

const skipAfterRemoval = withMethod('pets.list', (list, { changes }) => async (query) => {
  const page = await list(query);
  const version = query.after === undefined ? undefined : await changes.find(query.after);
  return version === undefined || version.pet ? page : { ...page, pets: page.pets.slice(1) };
});

const unseenRemoval = withMethods(() => {
  const seen = new Map<bigint, Pet>();
  return {
    'changes.remove': preceding((id) => seen.delete(id)),
    'pets.find': changing((pet, id) => {
      if (pet) seen.set(id, pet);
      return seen.get(id);
    }),
  };
});

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

/** Caches the results of a read until a write without an idempotency key. */
const staleAfterKey = (name: string, isCached: (query: object) => boolean): Fault =>
  withMethods(() => {
    const cache = new Map<string, unknown>();
    const unkeyed = WRITES.filter((write) => !write.startsWith('idempotentChanges.'));
    const emptying = preceding(() => cache.clear());
    return {
      ...Object.fromEntries([...unkeyed, 'transfer.importPets'].map((write) => [write, emptying])),
      [name]: (read) => async (query) => {
        const key = Object.entries(query).join() || `${query}`;
        if (!cache.has(key) || !isCached(query)) cache.set(key, await read(query));
        return cache.get(key);
      },
    };
  });
const isFiltered = (query: object) => Object.keys(query).some((key) => key !== 'limit' && key !== 'after');

const twoEpochs = withMethods(() => {
  const epochs: string[] = [];
  let begun = 0;
  return {
    'changes.beginEpoch': preceding(() => {
      begun += 1;
    }),
    'changes.list': changing((page) => {
      epochs[begun % 2] ??= page.epoch;
      return { ...page, epoch: epochs[begun % 2] };
    }),
  };
});

const exportedRemoval = withMethods(() => {
  const added: Pet[] = [];
  return {
    'pets.add': changing((pet) => {
      added.push(pet);
      return pet;
    }),
    'transfer.exportPets': (exportPets, storage) =>
      async function* (filter = {}) {
        const isRemoved = ({ id }: Pet) => memoryOf(storage).findNow(id) === undefined;
        const removed = added.filter((pet) => matches(pet, filter) && isRemoved(pet));
        const all = [...(await Array.fromAsync(exportPets(filter))).flat(), ...removed] as Pet[];
        if (all.length > 0) yield all.sort(byId);
      },
  };
});

const reusedNumber = withMethod('transfer.importPets', (importPets, storage) => async (...args) => {
  memoryOf(storage).lastId = lastPetOf(storage) ?? memoryOf(storage).lastId;
  return await importPets(...args);
});

/** Ends each page at an even number, so that it has at most two versions, or none. */
const shortPages = withResult('changes.list', (page: ChangesPage, { after = 0n }) => {
  const upTo = after + 2n - (after % 2n);
  const versions = page.versions.filter(({ revision }) => revision <= upTo);
  const isShort = versions.length < page.versions.length;
  return isShort ? { ...page, versions, upTo, more: true } : page;
});

/** Changes the results of `idempotentChanges.find`. */
const foundAs = (change: (found: AttemptState, again: () => Promise<AttemptState>) => unknown): Fault =>
  withMethod('idempotentChanges.find', (find) => async (...args) => {
    return change(await find(...args), () => find(...args));
  });

const thawing = (part: 'record' | 'version') =>
  foundAs(({ [part]: frozen, ...found }) => {
    return { ...found, [part]: frozen && { ...frozen, pet: frozen.pet && { ...frozen.pet } } };
  });

const ONE_WINS = 'of two writes of one version or key, one is made';
const FROZEN = 'found pets are frozen, and changing the input after the call changes none of them';

const REPLACED = 'a replaced pet is read with all its new attributes (with keys)';
const RECORDS = 'a version is found with all records, which keep their first responses';
const TOGETHER = 'a write and its record become visible together';
const EPOCHS = 'a new epoch differs from all earlier ones, and has the same versions';
const FEED = 'the feed has the newest version of each pet, in the order of writes';
const END = 'before the first and after the last version, there is nothing until the next write';
const REMOVED = 'a list after the id of a removed pet begins with the next pet';
const SEEN = 'a change and a removal of one client are seen by another one';
const TRANSFER = 'after each write, an export has the stored pets, and an import takes new numbers';
const [RANDOM = ''] = differentialContract({ open: expect.fail }).map(({ name }) => name);

test.each<[fault: string, Fault, ...failed: string[]]>([
  [
    'an import of ids into a store whose pets were removed',
    withMethod('transfer.importPets', (importPets, storage) => async (batches, options) => {
      const isEmptied = memoryOf(storage).lastId > 0n && lastPetOf(storage) === undefined;
      const { transfer } = isEmptied ? openMemoryStorage() : { transfer: { importPets } };
      return await transfer.importPets(batches, options);
    }),
    'an import of ids is refused when the store has had a pet, even if it was removed',
  ],
  ['a list that skips a pet after a removed one', skipAfterRemoval, REMOVED, `${REMOVED} (with keys)`],
  ['a removal that other clients do not see', unseenRemoval, SEEN, RANDOM],
  ['a removal that compares before its transaction', lateRemoval, ONE_WINS, ACCEPTED],
  ['a record that looks for another one before its transaction', lateRecord, ONE_WINS],
  ['a record with a pet that callers can change', thawing('record'), FROZEN],
  ['a version with a pet that callers can change', thawing('version'), RECORDS, FROZEN],
  [
    'a record that loses its pet when the pet is removed',
    foundAs(({ record, version }) => ({
      record: version?.pet ? record : record && { ...record, pet: undefined },
      version,
    })),
    RECORDS,
    RANDOM,
  ],
  [
    'a record with the pet as it is',
    foundAs(({ record, version }) => ({
      record: record?.pet ? { ...record, pet: version?.pet ?? record.pet } : record,
      version,
    })),
    RECORDS,
    RANDOM,
  ],
  [
    'a record that was read before the version',
    foundAs(async ({ record }, again) => ({ record, version: (await nextTurn().then(again)).version })),
    TOGETHER,
  ],
  [
    'a version that was read before the record',
    foundAs(async ({ version }, again) => ({ record: (await nextTurn().then(again)).record, version })),
    TOGETHER,
  ],
  [
    'a version with the revision before a keyed change',
    withMethods(() => {
      const old = new Map<bigint, bigint>();
      return {
        'idempotentChanges.replace': changing((revision, _, expected) => {
          old.set(revision, expected);
          return revision;
        }),
        'changes.find': changing((version) => {
          return version && { ...version, revision: old.get(version.revision) ?? version.revision };
        }),
      };
    }),
    REPLACED,
    'only the expected revision of a known pet, at first its id, is replaced or removed (with keys)',
    'of 50 concurrent writers of one version, one succeeds (with keys)',
    'changing the input after the call does not change the stored pet (with keys)',
    RANDOM,
  ],
  ['a pet as it was before a keyed change', staleAfterKey('pets.find', () => true), SEEN, REPLACED, RANDOM],
  // No list is filtered if no attribute has a filter.
  [
    'a filtered list as it was before a keyed change',
    staleAfterKey('pets.list', isFiltered),
    ...(PET_FILTERS.length > 0 ? [REPLACED] : []),
  ],
  [
    'a record that takes a number',
    withMethod('idempotentChanges.record', (record, storage) => async (...args) => {
      const isRecorded = await record(...args);
      if (isRecorded) memoryOf(storage).lastId += 1n;
      return isRecorded;
    }),
    'a request that changes nothing has a record, and takes no number',
  ],
  ['an epoch that is kept', withMethod('changes.beginEpoch', () => async () => {}), EPOCHS, CLOSED],
  ['an epoch that begins again', twoEpochs, EPOCHS],
  [
    'a feed that forgets a removal when a pet is added',
    withMethod('changes.list', (list, storage) => async (query) => {
      const page: ChangesPage = await list(query);
      const lastPet = lastPetOf(storage) ?? 0n;
      return { ...page, versions: page.versions.filter(({ pet, revision }) => pet || revision > lastPet) };
    }),
    FEED,
    `${FEED} (with keys)`,
    RANDOM,
  ],
  [
    'a page of the feed that ends after the last number',
    withResult('changes.list', (page: ChangesPage) => {
      return page.more || page.upTo === 0n ? page : { ...page, upTo: page.lastNumber + 1n };
    }),
    FEED,
    END,
    `${FEED} (with keys)`,
    `${END} (with keys)`,
    RANDOM,
  ],
  ['an export with removed pets', exportedRemoval, TRANSFER, RANDOM],
  ['an import with the number of a removal', reusedNumber, TRANSFER, RANDOM],
])('%s', async (_, fault, ...failed) => {
  const { open, openSecond } = subjectOf(fault);
  const suites = [petChangesContract, idempotentChangesContract, storageContract];
  const cases = suites.flatMap((contract) => contract({ open, openSecond }));
  const random = failed.includes(RANDOM) ? differentialContract({ open }) : [];
  expect(await failedCases([...cases, ...random])).toEqual(failed);
});

test('a feed with short and empty pages passes all suites', async () => {
  const { open, openSecond } = subjectOf(shortPages);
  const suites = [petChangesContract, idempotentChangesContract, storageContract, changeHistoryContract];
  const cases = suites.flatMap((contract) => contract({ open, openSecond }));
  expect(await failedCases([...cases, ...differentialContract({ open })])).toEqual([]);
});
