/** A temporary file for the batches of an import, so that no transaction is open while a slow source is read. */

import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { codeOf } from '../storage-kit/store-errors.ts';

/** The values of a statement, which {@link Spool.add} writes as one line of JSON. */
type Values = readonly unknown[];

export interface Spool extends AsyncDisposable {
  add(values: Values): Promise<void>;
  read(): AsyncIterable<unknown[]>;
}

export async function openSpool(): Promise<Spool> {
  const path = join(tmpdir(), `animal-store-import-${randomUUID()}`);
  const file: FileHandle = await inFile(open(path, 'wx+', 0o600));
  // A file without a name is deleted when it is closed, or when the process crashes.
  await unlink(path).catch(() => {});
  return {
    add: (values) =>
      inFile(file.appendFile(`${JSON.stringify(values).replace(/[\u2028\u2029]/g, escaped)}\n`)),
    async *read() {
      for await (const line of file.readLines({ start: 0, autoClose: false })) yield JSON.parse(line);
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** Escapes characters that `readLines` would treat as the end of a line. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16)}`;
}

function inFile<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const message = `the temporary file of the import in ${tmpdir()} cannot be written (${codeOf(error)}): nothing was stored`;
    throw storageUnavailable(message, error);
  });
}
