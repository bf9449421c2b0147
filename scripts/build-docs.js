/** Writes to dist/docs the OpenAPI documents, and the compressed reference page with the files that it loads or links to. */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { generateDocument } from '../openapi/document.ts';
import { DOCUMENTS } from '../src/adapters/http/lifecycle.ts';
import { clientFiles } from './build-client.js';
import { compress, read } from './build-files.js';
import { pageFiles } from './build-page.js';

const target = new URL('../dist/docs/', import.meta.url);

const files = new Map([
  ['index.html.gz', compress(read('page/index.html'))],
  ...(await pageFiles()),
  ...(await clientFiles()),
  ...Object.entries(DOCUMENTS).map(([name, operations]) => [name, Buffer.from(generateDocument(operations))]),
]);
for (const name of existsSync(target) ? readdirSync(target, { recursive: true }) : []) {
  const file = new URL(name, target);
  if (!files.has(name) && statSync(file).isFile()) rmSync(file);
}
// Unchanged files are not written again, so that a server that starts during the build can read them.
for (const [name, content] of files) {
  const file = new URL(name, target);
  mkdirSync(dirname(fileURLToPath(file)), { recursive: true });
  if (!existsSync(file) || !readFileSync(file).equals(content)) writeFileSync(file, content);
}
console.log(`reference page and OpenAPI document: ${fileURLToPath(target)}`);
