/** Writes to dist/docs the compressed files of the reference page, and the OpenAPI document. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { generateDocument } from '../openapi/document.ts';
import { PROGRAMS } from '../src/adapters/http/docs/assets.ts'; // only the page
import { operationsOf } from '../src/adapters/http/operations.ts';

const root = new URL('../', import.meta.url);
const source = new URL('page/', root);
const target = new URL('dist/docs/', root);

const STYLES = ['colors.css', 'layout.css', 'text.css', 'reference.css', 'console.css']; // only the page

const files = new Map([
  ['index.html.gz', compress(read('index.html'))],
  ['icon.svg.gz', compress(read('icon.svg'))],
  ['docs.css.gz', compress(STYLES.map(read).join('\n'))], // only the page
  ['docs.js.gz', compress(await page())], // only the page
  ['animal-store-client.js.gz', compress(await bundle('src/library/client.ts'))], // only the client
  ...PROGRAMS.map((program) => [`examples/${program}.gz`, compress(read(`../examples/${program}`))]), // only the page
  ['openapi.json', Buffer.from(generateDocument())],
  ['openapi-experimental.json', Buffer.from(generateDocument(operationsOf(true)))],
]);
for (const name of existsSync(target) ? readdirSync(target, { recursive: true }) : []) {
  const file = new URL(name, target);
  if (!files.has(name) && statSync(file).isFile()) rmSync(file);
}
// A server that starts meanwhile can read a file that has not changed.
for (const [name, content] of files) {
  const file = new URL(name, target);
  mkdirSync(dirname(fileURLToPath(file)), { recursive: true });
  if (!existsSync(file) || !readFileSync(file).equals(content)) writeFileSync(file, content);
}
console.log(`reference page and OpenAPI document: ${fileURLToPath(target)}`);

// only the page: from here
/** Returns the script of the page, and the license of the parser that it contains. */
function page() {
  const license = readFileSync(new URL('../LICENSE', import.meta.resolve('marked')), 'utf8');
  return bundle('page/main.ts', `/*! The parser of Markdown is marked:\n${license} */`);
}
// only the page: to here

/** Returns a module with all modules that it imports. */
async function bundle(entry, banner = '') {
  const input = fileURLToPath(new URL(entry, root));
  const build = await rolldown({ input, platform: 'browser', moduleTypes: { '.md': 'text' } });
  const { output } = await build.generate({
    format: 'es',
    codeSplitting: false,
    minify: true,
    postBanner: banner,
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
