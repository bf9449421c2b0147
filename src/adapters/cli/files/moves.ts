/** Moves files without replacing a file that another program has created. */

import { link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Moves a file to a path where no file exists. Uses `link`, which fails if a file exists at the new path, because
 * `rename` would replace that file. On a file system without hard links, creates an empty file at the new path, which
 * fails in the same case. Then `rename` replaces the empty file.
 * @param changed the error to throw if a file exists at the new path
 */
export async function moveToNewName(from: string, to: string, changed: Error): Promise<void> {
  try {
    await link(from, to);
    await rm(from);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') throw changed;
    const reserved = await open(to, 'wx');
    await reserved.close();
    await rename(from, to).catch(async (failure) => {
      await rm(to, { force: true });
      throw failure;
    });
  }
}

/** Gives a file a second name, or, on a file system without hard links, another name. */
export async function setAside(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => rename(from, to));
}

export async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}
