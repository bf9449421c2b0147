/** A storage with one of these faults fails the contract cases that are about it, and no others. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import type { MemoryPetRepository } from '../../src/adapters/memory/pet-repository.ts';
import type { AttemptState } from '../../src/application/ports/idempotent-changes.ts';
import type { ChangesPage, PetVersion } from '../../src/application/ports/pet-changes.ts';
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
import { type Fault, type Replace, withMethod, withMethods } from './faulty.ts';

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

test.each<[name: string, failed: readonly string[], instead?: Replace]>([
  ...[...WRITES, 'apiKeys.add'].map((name) => [name, [COMPLETED]] as [string, readonly string[]]),
  // Stores the change without its record.
  [
    'idempotentChanges.replace',
    [COMPLETED],
    (_, { changes }) =>
      (pet, id) =>
        changes.replace(pet, id),
  ],
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

const unseenRemoval = withMethods(() => {
  const seen = new Map<bigint, Pet>();
  return {
    'changes.remove': (remove) => (id, expected) => {
      seen.delete(id);
      return remove(id, expected);
    },
    'pets.find': (find) => async (id) => {
      const pet = (await find(id)) ?? seen.get(id);
      if (pet !== undefined) seen.set(id, pet);
      return pet;
    },
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

const thawing = (part: 'record' | 'version') =>
  withMethod('idempotentChanges.find', (find) => async (...args) => {
    const found = await find(...args);
    const { [part]: frozen } = found;
    return { ...found, [part]: frozen && { ...frozen, pet: frozen.pet && { ...frozen.pet } } };
  });

/** Caches the results of a read until a write without an idempotency key. */
const staleAfterKey = (name: string, isCached: (query: object) => boolean): Fault =>
  withMethods(() => {
    const cache = new Map<string, unknown>();
    const unkeyed = WRITES.filter((write) => !write.startsWith('idempotentChanges.'));
    const emptying: Replace =
      (write) =>
      (...args) => {
        cache.clear();
        return write(...args);
      };
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

const oldRevision = withMethods(() => {
  const old = new Map<bigint, bigint>();
  return {
    'idempotentChanges.replace': (replace) => async (pet, expected, by) => {
      const revision = await replace(pet, expected, by);
      old.set(revision, expected);
      return revision;
    },
    'changes.find': (find) => async (id) => {
      const version = await find(id);
      return version && { ...version, revision: old.get(version.revision) ?? version.revision };
    },
  };
});

const twoEpochs = withMethods(() => {
  const epochs: string[] = [];
  let begun = 0;
  return {
    'changes.beginEpoch': (begin) => () => {
      begun += 1;
      return begin();
    },
    'changes.list': (list) => async (query) => {
      const page = await list(query);
      epochs[begun % 2] ??= page.epoch;
      return { ...page, epoch: epochs[begun % 2] };
    },
  };
});

const memoryOf = ({ pets }: Storage) => pets as MemoryPetRepository;

const exportedRemoval = withMethods(() => {
  const added: Pet[] = [];
  return {
    'pets.add': (add) => async (input) => {
      const pet = await add(input);
      added.push(pet);
      return pet;
    },
    'transfer.exportPets': (exportPets, storage) =>
      async function* (filter = {}) {
        const isRemoved = ({ id }: Pet) => memoryOf(storage).findNow(id) === undefined;
        const removed = added.filter((pet) => matches(pet, filter) && isRemoved(pet));
        const all = [...(await Array.fromAsync(exportPets(filter))).flat(), ...removed] as Pet[];
        if (all.length > 0) yield all.sort(byId);
      },
  };
});

const forgottenRemoval = withMethods(() => {
  let added = 0n;
  return {
    'pets.add': (add) => async (input) => {
      const pet = await add(input);
      added = pet.id;
      return pet;
    },
    'changes.list': (list) => async (query) => {
      const page = await list(query);
      return {
        ...page,
        versions: page.versions.filter(({ pet, revision }: PetVersion) => pet || revision > added),
      };
    },
  };
});

const numberedRecord = withMethod('idempotentChanges.record', (record, storage) => {
  const pets = memoryOf(storage);
  return async (...args) => {
    const isRecorded = await record(...args);
    if (isRecorded) pets.lastId += 1n;
    return isRecorded;
  };
});

const reusedNumber = withMethod('transfer.importPets', (importPets, storage) => {
  const pets = memoryOf(storage);
  return (batches, options) => {
    const onProgress = (count: number) => {
      options.onProgress?.(count);
      pets.lastId = pets.selectNow(() => true).at(-1)?.id ?? pets.lastId;
    };
    return importPets(batches, { ...options, onProgress });
  };
});

/** Ends each page at an even number, so that it has at most two versions, or none. */
const shortPages = withMethod('changes.list', (list) => async ({ after = 0n, limit }) => {
  const page: ChangesPage = await list({ after, limit });
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
    importAfterRemoval,
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
    oldRevision,
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
    numberedRecord,
    'a request that changes nothing has a record, and takes no number',
  ],
  ['an epoch that is kept', withMethod('changes.beginEpoch', () => async () => {}), EPOCHS, CLOSED],
  ['an epoch that begins again', twoEpochs, EPOCHS],
  [
    'a feed that forgets a removal when a pet is added',
    forgottenRemoval,
    FEED,
    `${FEED} (with keys)`,
    RANDOM,
  ],
  [
    'a page of the feed that ends after the last number',
    withMethod('changes.list', (list) => async (query) => {
      const page = await list(query);
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
