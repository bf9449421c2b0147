import { readFileSync } from 'node:fs';
import { AnimalStoreError } from '../../../domain/errors.ts';

/** Where `npm run build` writes files. The path is the same from this file in `src` and from the built one in `dist`. */
const FOLDER = '../../../../dist/docs/';

/** Creates a function that returns a parsed file, which is read at once, so that requests need no file descriptor. */
export function builtFile<T>(name: string, parse: (content: Buffer) => T): () => T {
  let parsed: T | undefined;
  const load = () => (parsed ??= parse(read(name)));
  try {
    load();
  } catch {
    // The next call reads the file again. If this fails too, the client gets a response with status 503.
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
