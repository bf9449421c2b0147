/** Reads the files that `npm run build` writes to `dist/docs`. */

import { readFileSync } from 'node:fs';
import { AnimalStoreError } from '../../../domain/errors.ts';

/** The relative path is the same from this file in `src` and from the built file in `dist`. */
const FOLDER = '../../../../dist/docs/';

/**
 * Creates a function that returns a parsed file. The file is read at once, so that requests need no file descriptor. If
 * reading fails, each call of the function reads the file again, until reading succeeds.
 */
export function builtFile<T>(name: string, parse: (content: Buffer) => T): () => T {
  let parsed: T | undefined;
  const load = () => (parsed ??= parse(read(name)));
  try {
    load();
  } catch {
    // If reading fails again, the client gets a response with status 503.
  }
  return load;
}

function read(name: string): Buffer {
  try {
    // In a bundle, the URL of the module can be missing.
    return readFileSync(new URL(name, new URL(FOLDER, import.meta.url)));
  } catch (cause) {
    throw new AnimalStoreError('overloaded', 'the documentation cannot be read at the moment', { cause });
  }
}
