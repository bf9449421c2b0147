import { expect, test } from 'vitest';
import { PARTS } from '../../scripts/new/parts.ts';
import { tableBelow } from '../manuals/manuals.ts';

test('docs/make-it-yours.md says what each part adds', () => {
  const named = tableBelow('docs/make-it-yours.md', 'What do I get?').map(([part]) => part);
  expect(named.toSorted()).toEqual(
    Object.keys(PARTS)
      .map((part) => `\`${part}\``)
      .toSorted(),
  );
});
