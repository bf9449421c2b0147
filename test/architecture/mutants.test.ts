/** The mutants of `npm run test:order`, which runs at night, fit the sources and tests of today. */

import { globSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ROOT, read } from '../manuals/manuals.ts';
import { MUTANTS, testsOf } from '../mutation/mutants.ts';

const tests = globSync(['src/testing/**/*.ts', 'test/support/**/*.ts'], { cwd: ROOT }).map(read);

test.each(MUTANTS)('$name', (mutant) => {
  expect(read(mutant.file)).toContain(mutant.text);
  const [file = '', , title = ''] = testsOf(mutant);
  const texts = [read(file), ...tests];
  expect(texts.some((text) => text.includes(title))).toBe(true);
});
