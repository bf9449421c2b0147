/**
 * A file that is written at a temporary path, and moved to its final path when it is complete. An existing file at the
 * final path is replaced, and the new file gets its permissions. Until `keep` is called, `takeBack` can remove the new
 * file and restore the replaced one.
 */

import { randomUUID } from 'node:crypto';
import { type BigIntStats, lstatSync } from 'node:fs';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { identityOf } from './files.ts';

/** The bits of a mode that say who may read, write and execute a file. */
const PERMISSIONS = 0o777n;

export class PlacedFile {
  readonly #path: string;
  /** The temporary path of the new file. */
  readonly #partial: string;
  /** The temporary path of the replaced file. */
  readonly #aside: string;
  /**
   * The inode, mode, size and modification time of the file at `path` when this object was created. `undefined` when
   * there was no file. A file that was created or changed later is not replaced.
   */
  readonly #earlier: string | undefined;
  /** The permissions of the file to replace, or `undefined` for the default of a new file. */
  readonly #mode: number | undefined;
  #own: string | undefined;
  #handle: FileHandle | undefined;

  /** @param path the path of the regular file to replace, or a path where no file exists */
  constructor(path: string) {
    const unique = `${path}.${randomUUID()}`;
    this.#path = path;
    this.#partial = `${unique}.partial`;
    this.#aside = `${unique}.earlier`;
    const stats = statsOf(path);
    this.#earlier = stats && versionOf(stats);
    this.#mode = stats && Number(stats.mode & PERMISSIONS);
  }

  /** Whether a file existed at the final path when this object was created. */
  get replacesFile(): boolean {
    return this.#earlier !== undefined;
  }

  /** Appends a text or bytes to the new file. The first call creates the file. */
  async write(data: string | Uint8Array): Promise<void> {
    this.#handle ??= await this.#create();
    await this.#handle.writeFile(data);
  }

  /**
   * Syncs the new file to the disk, and moves the file to the final path. Rejects if another program has created or
   * changed a file at the final path since this object was created.
   */
  async place(): Promise<void> {
    await this.#finish();
    const there = statsOf(this.#path);
    if (there === undefined) {
      await moveToNewName(this.#partial, this.#path, () => this.#changed());
    } else {
      if (versionOf(there) !== this.#earlier) throw this.#changed();
      await setAside(this.#path, this.#aside);
      if (identityAt(this.#aside) !== identityOf(there)) throw this.#changed();
      await rename(this.#partial, this.#path);
    }
    await syncFolderOf(this.#path);
  }

  /** Makes the replacement final: deletes the old file, which `place` has moved to a temporary path. */
  async keep(): Promise<void> {
    await rm(this.#aside, { force: true });
  }

  /**
   * Removes the new file, and restores the replaced file. If another program has put a file at the final path, that
   * file stays.
   */
  async takeBack(): Promise<void> {
    await this.#close();
    const there = identityAt(this.#path);
    const aside = identityAt(this.#aside);
    const isOwn = there !== undefined && there === this.#own;
    if (aside === undefined) {
      if (isOwn) await rm(this.#path);
    } else if (isOwn || there === undefined) {
      await rename(this.#aside, this.#path);
    } else if (there === aside) {
      await rm(this.#aside);
    }
    await rm(this.#partial, { force: true });
  }

  async #create(): Promise<FileHandle> {
    const handle = await open(this.#partial, 'wx', this.#mode);
    // The mode of `open` is subject to the umask.
    if (this.#mode !== undefined) await handle.chmod(this.#mode);
    return handle;
  }

  async #finish(): Promise<void> {
    await this.#handle?.sync();
    this.#own = identityAt(this.#partial);
    await this.#close();
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  #changed(): Error {
    return new Error('another program has created or changed this file in the meantime');
  }
}

/**
 * Moves a file to a path where no file exists. Uses `link`, which fails if a file exists at the new path, because
 * `rename` would replace that file. On a file system without hard links, creates an empty file at the new path, which
 * fails in the same case. Then `rename` replaces the empty file.
 */
async function moveToNewName(from: string, to: string, changed: () => Error): Promise<void> {
  try {
    await link(from, to);
    await rm(from);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw changed();
    const reserved = await open(to, 'wx');
    await reserved.close();
    await rename(from, to).catch(async (failure) => {
      await rm(to, { force: true });
      throw failure;
    });
  }
}

async function setAside(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => rename(from, to));
}

async function syncFolderOf(path: string): Promise<void> {
  const folder = await open(dirname(path), 'r');
  await folder.sync().finally(() => folder.close());
}

function identityAt(path: string): string | undefined {
  const stats = statsOf(path);
  return stats && identityOf(stats);
}

/**
 * Returns a text that identifies the version of a file. The text includes the mode, the size and the modification time,
 * because the inode number can be reused for another file.
 */
function versionOf(stats: BigIntStats): string {
  return [identityOf(stats), stats.mode, stats.size, stats.mtimeNs].join();
}

function statsOf(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
