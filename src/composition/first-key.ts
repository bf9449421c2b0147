/** Creates the first API key of a store, and keeps the key off standard output if the configuration says so. */

import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { AnimalStore } from '../application/animal-store.ts';
import type { IssuedApiKey } from '../application/api-keys.ts';
import { isApiKey } from '../domain/api-key.ts';
import { type Config, ConfigError } from './config.ts';
import { DATABASES } from './databases/index.ts';

/** The key that was created at the start. At most one of the properties is set. */
export interface CreatedKey {
  /** The key, if it is to be shown. */
  readonly firstKey?: IssuedApiKey;
  /** The path of the file that contains the key, if the key is not to be shown. */
  readonly firstKeyFile?: string;
}

const NAME = 'first key';
/** The number of bytes that are read of an existing file. A file with a key is shorter. */
const EXCERPT = 256;

/**
 * Creates an API key if the store has never had a key and the configuration contains no keys.
 *
 * With `FIRST_KEY=file:PATH`, the key is durable in the file before it is stored. After a failure, the store has no key
 * that nobody knows. Of several servers that start at the same time, only the one whose key is stored writes. Throws a
 * `ConfigError` when the file cannot be written, or contains something else than a key.
 */
export async function createFirstKey(
  { apiKeys, firstKey, database }: Config,
  store: Pick<AnimalStore, 'apiKeys'>,
): Promise<CreatedKey> {
  if (apiKeys.length > 0 || firstKey.kind === 'none') return {};
  if (firstKey.kind === 'print') {
    const issued = await store.apiKeys.createFirst(NAME);
    return issued === undefined ? {} : { firstKey: issued };
  }
  const { path } = firstKey;
  if ((await DATABASES.files(database)).includes(resolve(path))) throw fault(path, 'belongs to the store');
  const issued = await store.apiKeys.createFirst(NAME, (key) => replaceKey(path, `${key}\n`));
  return issued === undefined ? {} : { firstKeyFile: path };
}

/**
 * Replaces the content of a file. A new file can be read by its owner only. An existing file is overwritten in place,
 * because the file can be a mount point.
 */
function replaceKey(path: string, text: string): void {
  let descriptor: number | undefined;
  try {
    // Without O_NONBLOCK, the start would wait for the reader of a FIFO.
    descriptor = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK, 0o600);
    refuseOther(path, descriptor);
    ftruncateSync(descriptor);
    writeSync(descriptor, text, 0);
    fsyncSync(descriptor);
    syncFolderOf(path);
  } catch (error) {
    throw error instanceof ConfigError
      ? error
      : fault(path, `cannot be written: ${(error as Error).message}`);
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

function syncFolderOf(path: string): void {
  const folder = openSync(dirname(path), constants.O_RDONLY);
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

function refuseOther(path: string, descriptor: number): void {
  if (!fstatSync(descriptor).isFile()) throw fault(path, 'is not a regular file');
  const buffer = Buffer.alloc(EXCERPT);
  const content = buffer.toString('latin1', 0, readSync(descriptor, buffer, 0, EXCERPT, 0)).trim();
  if (content !== '' && !isApiKey(content)) {
    throw fault(path, 'exists and does not contain a key: it is not overwritten');
  }
}

function fault(path: string, reason: string): ConfigError {
  return new ConfigError(`FIRST_KEY: the file ${path} ${reason}`);
}
