/** Reads and compresses files for the builds of /docs. */

import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const root = new URL('../', import.meta.url);

export function read(path) {
  return readFileSync(new URL(path, root), 'utf8');
}

export function compress(text) {
  return gzipSync(text, { level: 9 });
}
