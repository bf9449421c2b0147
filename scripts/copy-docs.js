/** Copies the reference page, its compressed files and their licenses to dist/docs. Must run after the compiler. */

import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = new URL('../', import.meta.url);
const target = new URL('dist/docs/', root);
const swaggerUi = new URL('./', import.meta.resolve('swagger-ui-dist/package.json'));

const PAGE = [
  [new URL('src/adapters/http/docs/', root), ['index.html', 'docs.js', 'docs.css', 'icon.svg']],
  [new URL('dist/adapters/http/docs/', root), ['exact-integers.js']],
  [swaggerUi, ['swagger-ui-bundle.js', 'swagger-ui.css']],
];

const LICENSES = {
  'swagger-ui-bundle.js.LICENSE.txt': 'swagger-ui-bundle.js.LICENSE.txt',
  LICENSE: 'swagger-ui.LICENSE',
  NOTICE: 'swagger-ui.NOTICE',
};

mkdirSync(target, { recursive: true });
for (const [folder, files] of PAGE) {
  for (const file of files) {
    const text = withoutSourceMap(readFileSync(new URL(file, folder), 'utf8'));
    writeFileSync(new URL(`${file}.gz`, target), gzipSync(text, { level: 9 }));
  }
}
for (const [file, name] of Object.entries(LICENSES)) {
  copyFileSync(new URL(file, swaggerUi), new URL(name, target));
}
console.log(`reference page: ${fileURLToPath(target)}`);

/** Removes the reference to a source map, because a browser would request the map, which is not served. */
function withoutSourceMap(text) {
  return text.replace(/\n?(?:\/\/|\/\*)# sourceMappingURL=\S+(?: \*\/)?\s*$/, '\n');
}
