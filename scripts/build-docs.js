/** Writes to dist/docs the compressed files of the reference page, and the OpenAPI document. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { generateDocument } from '../openapi/document.ts';

const root = new URL('../', import.meta.url);
const source = new URL('page/', root);
const target = new URL('dist/docs/', root);

const STYLES = ['colors.css', 'layout.css', 'text.css', 'reference.css', 'console.css'];

const files = new Map([
  ['index.html.gz', compress(read('index.html'))],
  ['icon.svg.gz', compress(read('icon.svg'))],
  ['docs.css.gz', compress(STYLES.map(read).join('\n'))],
  ['docs.js.gz', compress(await bundle())],
  ['openapi.json', Buffer.from(generateDocument())],
]);
mkdirSync(target, { recursive: true });
for (const name of readdirSync(target)) if (!files.has(name)) rmSync(new URL(name, target));
// A server that starts meanwhile can read a file that has not changed.
for (const [name, content] of files) {
  const file = new URL(name, target);
  if (!existsSync(file) || !readFileSync(file).equals(content)) writeFileSync(file, content);
}
console.log(`reference page and OpenAPI document: ${fileURLToPath(target)}`);

/** Returns the script of the page with all its modules, and the license of the parser that it contains. */
async function bundle() {
  const license = readFileSync(new URL('../LICENSE', import.meta.resolve('marked')), 'utf8');
  const build = await rolldown({ input: fileURLToPath(new URL('main.ts', source)), platform: 'browser' });
  const { output } = await build.generate({
    format: 'es',
    minify: true,
    postBanner: `/*! The parser of Markdown is marked:\n${license} */`,
  });
  await build.close();
  return output[0].code;
}

function read(file) {
  return readFileSync(new URL(file, source), 'utf8');
}

function compress(text) {
  return gzipSync(text, { level: 9 });
}
