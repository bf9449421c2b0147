/** Bundles the JavaScript client into one module, for users who do not install the package. */

import { fileURLToPath } from 'node:url';
import { bundle } from './build-bundle.js';
import { compress } from './build-files.js';

const CLIENT = fileURLToPath(new URL('../src/library/client.ts', import.meta.url));

export async function clientFiles() {
  return [['animal-store-client.js.gz', compress(await bundle(CLIENT))]];
}
