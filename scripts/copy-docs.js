/** Puts the reference page and what it loads into dist/docs. Runs after the compiler. */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = new URL('../', import.meta.url);
const target = new URL('dist/docs/', root);
const swaggerUi = new URL('./', import.meta.resolve('swagger-ui-dist/package.json'));

const SOURCES = [
  [new URL('src/adapters/http/docs/', root), ['index.html', 'docs.js', 'docs.css', 'icon.svg']],
  [new URL('dist/adapters/http/docs/', root), ['exact-integers.js']],
  [
    swaggerUi,
    ['swagger-ui-bundle.js', 'swagger-ui-bundle.js.LICENSE.txt', 'swagger-ui.css', 'LICENSE', 'NOTICE'],
  ],
];

mkdirSync(target, { recursive: true });
for (const [folder, files] of SOURCES) {
  for (const file of files) {
    const name = folder === swaggerUi && !file.startsWith('swagger-ui') ? `swagger-ui.${file}` : file;
    writeFileSync(new URL(name, target), withoutSourceMap(readFileSync(new URL(file, folder), 'utf8')));
  }
}
console.log(`reference page: ${fileURLToPath(target)}`);

/** The maps are not served, and a browser would ask for them. */
function withoutSourceMap(text) {
  return text.replace(/\n?(?:\/\/|\/\*)# sourceMappingURL=\S+(?: \*\/)?\s*$/, '\n');
}
