/** The contract suites find ordinary bugs of an adapter, say what they saw, and end. */

import { afterEach, describe, expect, test, vi } from 'vitest';
import { openMemoryStorage } from '../../src/adapters/memory/index.ts';
import type { CreateAttempt } from '../../src/application/ports/idempotent-creates.ts';
import type { Storage } from '../../src/application/ports/storage.ts';
import {
  type ContractCase,
  changeHistoryContract,
  type DifferentialOptions,
  differentialContract,
  historyContract,
  idempotentChangesContract,
  idempotentCreatesContract,
  petChangesContract,
  petRepositoryContract,
  petTransferContract,
  type Subject,
  storageContract,
} from '../../src/testing/index.ts';
import { type Fault, withMethod, withResult } from './faulty.ts';

afterEach(() => void vi.useRealTimers());

function subjectOf<Port>(change: Fault, portOf: (storage: Storage) => Port): Subject<Port> {
  return {
    async open() {
      const storage = openMemoryStorage();
      return { port: portOf({ ...storage, ...change(storage) }), close: () => storage.close() };
    },
    moveClock: (_, milliseconds) => void vi.setSystemTime(Date.now() + milliseconds),
  };
}

/** Returns the messages of the cases that fail. */
async function failuresOf(cases: readonly ContractCase[]): Promise<string[]> {
  const results = await Promise.allSettled(cases.map(({ run }) => run()));
  return results.flatMap((each) => (each.status === 'rejected' ? (each.reason as Error).message : []));
}

const none: Fault = () => ({});
const inclusive = withMethod('pets.list', (list) => {
  return ({ after, ...query }) => list({ ...query, after: after && after - 1n });
});
const hanging = withMethod('pets.find', () => () => new Promise(() => {}));
const endless = withMethod('transfer.exportPets', (_, { pets }) => {
  return async function* () {
    for (;;) yield (await pets.list({ limit: 100 })).pets;
  };
});

/** Says that more items follow each full page. */
const promising = (method: string, items: string) =>
  withResult(method, (page, { limit }) => Object.freeze({ ...page, more: page[items].length === limit }));
const promisingPets = promising('pets.list', 'pets');
const promisingChanges = promising('changes.list', 'versions');

describe('every suite ends, and says which page did not move', () => {
  test('when pages begin with the last pet of the page before', async () => {
    const messages = await failuresOf([
      ...petRepositoryContract(subjectOf(inclusive, ({ pets }) => pets)),
      ...petTransferContract(subjectOf(inclusive, (storage) => storage)),
      ...idempotentCreatesContract(subjectOf(inclusive, (storage) => storage)),
      ...historyContract(subjectOf(inclusive, (storage) => storage)),
      ...differentialContract(subjectOf(inclusive, (storage) => storage)),
    ]);
    expect(messages).toContainEqual(
      expect.stringMatching(/the page limit=100&after=(\d+) did not move: it begins with pet \1$/),
    );
  }, 30_000);

  test('when a call hangs', async () => {
    const subject = { ...subjectOf(hanging, ({ pets }) => pets), caseTimeout: 500 };
    const cases = petRepositoryContract(subject);
    const messages = await failuresOf(cases);
    const late = cases.map(({ name }) => `the case '${name}' has not ended after 500 ms`);
    expect(late.filter((message) => messages.includes(message))).not.toEqual([]);
  });

  test('when an export begins anew', async () => {
    const messages = await failuresOf(petTransferContract(subjectOf(endless, (storage) => storage)));
    expect(messages).toContainEqual(expect.stringMatching(/the batch after pet \d+ did not move/));
  }, 30_000);
});

describe('every suite refuses a page that is the last one, and says that more follows', () => {
  test('of pets', async () => {
    expect(await failuresOf(petRepositoryContract(subjectOf(promisingPets, ({ pets }) => pets)))).toEqual(
      expect.arrayContaining([
        'the page limit=100&after=1000 is empty, although the page before promised more',
        expect.stringContaining('expected a page with more: false'),
      ]),
    );
    const histories = await failuresOf(historyContract(subjectOf(promisingPets, (storage) => storage)));
    const reason = expect.stringContaining('said that there are more pets, and there were none');
    expect(histories).toEqual([reason, reason, reason]);
  });

  test('of changes', async () => {
    const subject = subjectOf(promisingChanges, (storage) => storage);
    expect(await failuresOf(petChangesContract(subject))).toEqual(['no promised change follows 10']);
    const histories = await failuresOf(changeHistoryContract(subject));
    expect(histories).toContainEqual(expect.stringMatching(/^no promised change follows \d+$/));
  });
});

test('the suite of a whole storage skips the ports that it lacks', async () => {
  const subject = subjectOf(none, ({ pets, check, close }) => ({ pets, check, close }));
  expect(await failuresOf(storageContract(subject))).toEqual([]);
});

test('the suite of creates skips what needs the port of the records, without this port', async () => {
  const subject = subjectOf(none, ({ pets, idempotentCreates }) => ({ pets, idempotentCreates }));
  // One after the other, because each case moves the one clock.
  for (const each of idempotentCreatesContract(subject)) expect(await failuresOf([each])).toEqual([]);
});

test.each<[order: string, join: (attempt: CreateAttempt) => string]>([
  ['the caller first', ({ caller, key }) => caller + key],
  ['the key first', ({ caller, key }) => key + caller],
])('a key that is one with its caller is found: %s', async (_, join) => {
  const joined = <T extends CreateAttempt>(by: T): T => ({ ...by, caller: '', key: join(by) });
  const change: Fault = ({ idempotentCreates, idempotentChanges: writes }) => ({
    idempotentCreates: { add: (pet, by) => idempotentCreates.add(pet, joined(by)) },
    idempotentChanges: {
      find: (id, by) => writes.find(id, joined(by)),
      replace: (pet, expected, by) => writes.replace(pet, expected, joined(by)),
      remove: (id, expected, by) => writes.remove(id, expected, joined(by)),
      record: (id, pet, by) => writes.record(id, pet, joined(by)),
    },
  });
  const { open } = subjectOf(change, (storage) => storage);
  expect(await failuresOf(idempotentCreatesContract({ open }))).toHaveLength(1);
  expect(await failuresOf(idempotentChangesContract({ open }))).toHaveLength(1);
});

describe('random operations find', () => {
  test.each<[bug: string, change: Fault]>([
    ['pages that begin with the last pet', inclusive],
    ['an export of another status', endless],
  ])('%s', async (_, change) => {
    const [message, ...others] = await failuresOf(
      differentialContract(subjectOf(change, (storage) => storage)),
    );
    expect(message).toMatch(/^seed \d, step \d+, [a-z ]+: /);
    expect(others).toEqual([]);
  });

  test('a part that is missing, although the adapter does not say so', async () => {
    const without: Fault = () => ({ transfer: undefined as never });
    const subject = subjectOf(without, (storage) => storage);
    expect(await failuresOf(differentialContract(subject))).toEqual([
      "the storage has no transfer, and 'lacks' does not say so",
    ]);
    const [contract] = differentialContract(subject, { lacks: ['transfer'] });
    expect(contract?.name).toContain('without transfer, reopen');
    await contract?.run();
  });

  test.each<DifferentialOptions>([
    {},
    { steps: 60 },
    { steps: 400 },
    { seeds: [1] },
    { seeds: [9], steps: 1 },
    { seeds: [] },
  ])('nothing in a correct storage, with the options %j', async (options) => {
    const { open, moveClock } = subjectOf(none, (storage) => storage);
    expect(await failuresOf(differentialContract({ open }, options))).toEqual([]);
    const lacks = ['idempotentCreates', 'idempotentChanges'] as const;
    const subject = { open, moveClock: moveClock as NonNullable<typeof moveClock> };
    expect(await failuresOf(differentialContract(subject, { ...options, lacks }))).toEqual([]);
  });

  test.each([
    [{ lacks: ['foo'] }, /^lacks\[0\]: expected one of apiKeys, .*, got string$/],
    [{ seed: 1 }, /^unknown option seed: expected seeds, steps or lacks$/],
    [{ steps: '9' }, /^steps: expected an integer, got string$/],
  ])('no storage to test, but wrong options: %j', (options, message) => {
    const open = () => expect.fail();
    expect(() => differentialContract({ open }, options as DifferentialOptions)).toThrow(message);
  });
});
