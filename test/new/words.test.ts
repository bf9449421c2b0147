/** Every word of the list becomes a project that the compiler accepts. */

import { expect, test } from 'vitest';
import { attributesOf } from '../../scripts/new/attributes.ts';
import { namesOf } from '../../scripts/new/names.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { faultsOf } from './compile.ts';
import { WORDS } from './words.ts';

// Each takes half a minute on a quiet machine. The gate tries only `change`, which collides with many names, and one list.
test.each(IS_WHOLE ? WORDS : [])('%s', { timeout: 600_000 }, (entity) => {
  expect(faultsOf(namesOf({ entity }))).toEqual([]);
});

const LISTS = [
  'title:text(1..200), pages:integer(1..5000)?, shelf:one of(fiction, science)=fiction, lent:boolean=false, dueAt:timestamp?, colour:one of(red, blue)=red, extra:boolean?',
  'amount:int64',
  'amount:int64, paidAt:timestamp filter, paid:boolean filter',
  'title:text(0..10)?, count:integer?, kind:one of(a-b, c)?, seenAt:timestamp?, seen:boolean?, weight:int64?',
];
test.each(IS_WHOLE ? LISTS : LISTS.slice(0, 1))('change with %s', { timeout: 600_000 }, (list) => {
  expect(faultsOf(namesOf({ entity: 'change' }), undefined, ['postgresql'], attributesOf(list))).toEqual([]);
});

test.each(IS_WHOLE ? ['parcel'] : [])(
  'a fault in a project of %s is found',
  { timeout: 600_000 },
  (entity) => {
    const [fault, ...others] = faultsOf(namesOf({ entity }), (path, text) =>
      path === 'src/domain/int64.ts' ? `${text}\nexport const wrong: number = '1';\n` : text,
    );
    expect(fault).toMatch(/int64\.ts:\d+: Type 'string' is not assignable to type 'number'/);
    expect(others).toEqual([]);
  },
);
