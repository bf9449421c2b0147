/** Builds the reference page, and writes its compressed files to dist/docs. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';

const root = new URL('../', import.meta.url);
const source = new URL('src/adapters/http/docs/page/', root);
const target = new URL('dist/docs/', root);

const STYLES = ['colors.css', 'layout.css', 'text.css', 'reference.css', 'console.css'];

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
write('index.html', read('index.html'));
write('icon.svg', read('icon.svg'));
write('docs.css', STYLES.map(read).join('\n'));
write('docs.js', await bundle());
console.log(`reference page: ${fileURLToPath(target)}`);

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

function write(file, text) {
  writeFileSync(new URL(`${file}.gz`, target), gzipSync(text, { level: 9 }));
}
