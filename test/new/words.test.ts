/** Every word of the list becomes a project that the compiler accepts. */

import { expect, test } from 'vitest';
import { namesOf } from '../../scripts/new/names.ts';
import { IS_WHOLE } from '../support/extent.ts';
import { faultsOf } from './compile.ts';
import { WORDS } from './words.ts';

// Each takes half a minute on a quiet machine. A name that meets many others shows most.
test.each(IS_WHOLE ? WORDS : ['key'])('%s', { timeout: 600_000 }, (entity) => {
  expect(faultsOf(namesOf({ entity }))).toEqual([]);
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
