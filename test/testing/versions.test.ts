import { expect, test } from 'vitest';
import { storedPet } from '../../src/domain/pet.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';
import { VersionHistory } from '../../src/testing/history/versions.ts';

const named = (name: string) => samplePet(name, name.charCodeAt(0));
const version = (revision: bigint, name: string) => ({ revision, pet: storedPet(1n, named(name)) });

/** A pet, and two changes after each other. */
function history(): VersionHistory {
  const all = new VersionHistory();
  all.addWrite({ call: 1, end: 2, attributes: named('a'), revision: 1n });
  all.addWrite({ call: 3, end: 4, id: 1n, expected: 1n, attributes: named('b'), revision: 2n });
  all.addWrite({ call: 5, end: 8, id: 1n, expected: 2n, attributes: named('c'), revision: 3n });
  return all;
}

const FEED = [{ id: 1n, ...version(3n, 'c') }];

test('one order by number explains reads of the newest version, and of either while a write is in flight', () => {
  const all = history();
  all.addRead({ call: 4, end: 5, id: 1n, version: version(2n, 'b') });
  all.addRead({ call: 6, end: 7, id: 1n, version: version(2n, 'b') });
  all.addRead({ call: 9, end: 10, id: 1n, version: version(3n, 'c') });
  expect(all.contradiction(FEED)).toBeUndefined();
});

test('a write with an unknown outcome explains a version that is read, or none', () => {
  const all = history();
  all.addWrite({ call: 9, end: Infinity, id: 1n, expected: 3n, attributes: named('d'), revision: undefined });
  expect(all.contradiction(FEED)).toBeUndefined();
  expect(all.contradiction([{ id: 1n, ...version(4n, 'd') }])).toBeUndefined();
  expect(all.contradiction([{ id: 1n, ...version(4n, 'e') }])).toBe('nobody wrote version 4 of pet 1');
});

test('a write with an unknown outcome does not explain two versions', () => {
  const all = history();
  all.addWrite({ call: 9, end: Infinity, attributes: named('d'), revision: undefined });
  const twice = [4n, 5n].map((id) => ({ id, revision: id, pet: storedPet(id, named('d')) }));
  expect(all.contradiction([...FEED, ...twice.slice(1)])).toBeUndefined();
  expect(all.contradiction([...FEED, ...twice])).toBe('nobody wrote version 5 of pet 5');
});

test('a change with an unknown outcome does not explain a version that replaced a later one', () => {
  const all = history();
  for (const expected of [1n, 2n])
    all.addWrite({ call: 5, end: Infinity, id: 1n, expected, attributes: named('d'), revision: undefined });
  expect(all.contradiction([{ id: 1n, ...version(4n, 'd') }])).toBe(
    'version 4 of pet 1 replaced 3, its writer had read 2',
  );
});

test.each<[string, (all: VersionHistory) => void, feed?: Parameters<VersionHistory['contradiction']>[0]]>([
  [
    'number 3 was assigned twice',
    (all) => all.addWrite({ call: 9, end: 10, id: 2n, expected: 2n, attributes: named('d'), revision: 3n }),
  ],
  [
    'a read of pet 1 returned version 1, after 2 was visible',
    (all) => all.addRead({ call: 5, end: 6, id: 1n, version: version(1n, 'a') }),
  ],
  [
    'a read of pet 1 returned version 2 before it was written',
    (all) => all.addRead({ call: 1, end: 2, id: 1n, version: version(2n, 'b') }),
  ],
  [
    'number 2 is of two writes: of pet 1 and pet 1',
    (all) => all.addRead({ call: 4, end: 5, id: 1n, version: version(2n, 'x') }),
  ],
  [
    'version 4 of pet 1 replaced 3, its writer had read 2',
    (all) => all.addWrite({ call: 9, end: 10, id: 1n, expected: 2n, attributes: named('d'), revision: 4n }),
    [{ id: 1n, ...version(4n, 'd') }],
  ],
  [
    'number 0 was assigned after 3 was acknowledged',
    (all) => all.addWrite({ call: 9, end: 10, attributes: named('x'), revision: 0n }),
    [...FEED, { id: 0n, revision: 0n, pet: storedPet(0n, named('x')) }],
  ],
  ['the feed has version 2 of pet 1, and not 3', () => {}, [{ id: 1n, ...version(2n, 'b') }]],
  ['the feed lacks a pet', () => {}, []],
])('%s', (message, add, feed = FEED) => {
  const all = history();
  add(all);
  expect(all.contradiction(feed)).toBe(message);
});
