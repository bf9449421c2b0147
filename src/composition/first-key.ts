import { lstat, open, readFile, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { RunningService } from '../adapters/cli/index.ts';
import type { AnimalStore } from '../application/animal-store.ts';
import { ConfigError } from './config/settings.ts';
import type { Config } from './config.ts';

const NAME = 'first key';
/** In bytes. A file with a key is shorter. */
const MAX_SIZE = 256;
/** Matches a key, also one that was not written completely. */
const EARLIER_KEY = /^(?:pets_\w*)?\s*$/;

/** With `FIRST_KEY=file:PATH`, the key is durable in the file before it is stored: the store has no key that nobody knows. */
export async function createFirstKey(
  { apiKeys, firstKey, database }: Config,
  store: Pick<AnimalStore, 'apiKeys'>,
): Promise<Pick<RunningService, 'firstKey' | 'firstKeyFile'>> {
  if (apiKeys.length > 0 || firstKey === 'none') return {};
  if (firstKey === 'print') {
    const issued = await store.apiKeys.createFirst(NAME);
    return issued === undefined ? {} : { firstKey: issued };
  }
  const { path } = firstKey;
  if ((await database.files()).includes(resolve(path))) throw fault(path, 'belongs to the store');
  const issued = await store.apiKeys.createFirst(NAME, (key) => writeKey(path, `${key}\n`));
  return issued === undefined ? {} : { firstKeyFile: path };
}

/** The file is always a new one that only its owner can read: a file or a symbolic link that exists is never opened for writing. */
async function writeKey(path: string, text: string): Promise<void> {
  try {
    await removeEarlierKey(path);
    const file = await open(path, 'wx', 0o600);
    await file
      .writeFile(text)
      .then(() => file.sync())
      .finally(() => file.close());
    const folder = await open(dirname(path));
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    throw error instanceof ConfigError
      ? error
      : fault(path, `cannot be written: ${(error as Error).message}`);
  }
}

/** Removes the file of an earlier start, whose key is not in this store. Throws if another program can have made the file. */
async function removeEarlierKey(path: string): Promise<void> {
  const stats = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (stats === undefined) return;
  if (!stats.isFile()) throw fault(path, 'is not a regular file: select another path');
  const isPrivate = (stats.mode & 0o077) === 0 && stats.nlink === 1 && stats.uid === process.getuid?.();
  if (!isPrivate) throw fault(path, 'exists, and others can read it: remove it, or select another path');
  const isKey = stats.size <= MAX_SIZE && EARLIER_KEY.test(await readFile(path, 'utf8'));
  if (!isKey) throw fault(path, 'exists and does not contain a key: it is not overwritten');
  await rm(path);
}

function fault(path: string, reason: string): ConfigError {
  return new ConfigError(`FIRST_KEY: the file ${path} ${reason}`);
}
