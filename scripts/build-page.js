/** Builds the reference page, and compresses the programs that its guides link to. */

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PROGRAMS } from '../src/adapters/http/docs/programs.ts';
import { bundle } from './build-bundle.js';
import { compress, read } from './build-files.js';

const PAGE = fileURLToPath(new URL('../page/main.ts', import.meta.url));
const STYLES = ['colors.css', 'layout.css', 'text.css', 'reference.css', 'console.css'];

export async function pageFiles() {
  // The script contains the Markdown parser, so it must also contain the license of the parser.
  const license = readFileSync(new URL('../LICENSE', import.meta.resolve('marked')), 'utf8');
  const script = await bundle(PAGE, `/*! The parser of Markdown is marked:\n${license} */`);
  return [
    ['icon.svg.gz', compress(read('page/icon.svg'))],
    ['docs.css.gz', compress(STYLES.map((name) => read(`page/${name}`)).join('\n'))],
    ['docs.js.gz', compress(script)],
    ...PROGRAMS.map((program) => [`examples/${program}.gz`, compress(read(`examples/${program}`))]),
  ];
}
