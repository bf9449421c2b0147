import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { RunningService } from '../adapters/cli/index.ts';
import type { AnimalStore } from '../application/animal-store.ts';
import { isApiKey } from '../domain/api-key-format.ts';
import { ConfigError } from './config/settings.ts';
import type { Config } from './config.ts';

const NAME = 'first key';
/** In bytes. A file with a key is shorter. */
const EXCERPT = 256;

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
  const issued = await store.apiKeys.createFirst(NAME, (key) => replaceKey(path, `${key}\n`));
  return issued === undefined ? {} : { firstKeyFile: path };
}

/** A new file can be read by its owner only. An existing file is overwritten in place, because it can be a mount point. */
async function replaceKey(path: string, text: string): Promise<void> {
  try {
    // Without O_NONBLOCK, the start would wait for the reader of a FIFO.
    const file = await open(path, constants.O_RDWR | constants.O_CREAT | constants.O_NONBLOCK, 0o600);
    await overwriteKey(path, file, text).finally(() => file.close());
    const folder = await open(dirname(path));
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    throw error instanceof ConfigError
      ? error
      : fault(path, `cannot be written: ${(error as Error).message}`);
  }
}

async function overwriteKey(path: string, file: FileHandle, text: string): Promise<void> {
  if (!(await file.stat()).isFile()) throw fault(path, 'is not a regular file');
  const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(EXCERPT), position: 0 });
  const content = buffer.toString('latin1', 0, bytesRead).trim();
  if (content !== '' && !isApiKey(content)) {
    throw fault(path, 'exists and does not contain a key: it is not overwritten');
  }
  await file.truncate();
  await file.writeFile(text);
  await file.sync();
}

function fault(path: string, reason: string): ConfigError {
  return new ConfigError(`FIRST_KEY: the file ${path} ${reason}`);
}
