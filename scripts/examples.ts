/** Adds missing required attributes to the pets in the examples of manuals, comments and programs. `npm run accept` calls it. */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { wholeCode } from '../test/support/pets.ts';
import { trackedFiles } from './git.ts';

const ROOT = join(import.meta.dirname, '..');

const EXAMPLES =
  /^(?:README\.md|\.ci\/start|docs\/[\w-]+\.md|examples\/.*\.(?:js|sh|ts)|scripts\/client-package\.ts|test\/(?:clients\/client-story|package\/programs\/.*)\.[cm]?[jt]s)$/;
const COMMENTS = /^src\/.*\.ts$/;

for (const path of trackedFiles(ROOT)) {
  if (!EXAMPLES.test(path) && !COMMENTS.test(path)) continue;
  const text = readFileSync(join(ROOT, path), 'utf8');
  const whole = COMMENTS.test(path) ? text.replaceAll(/^ *\* .*$/gm, wholeCode) : wholeCode(text);
  if (whole !== text) writeFileSync(join(ROOT, path), whole);
}
