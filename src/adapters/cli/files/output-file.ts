/**
 * A file that a command writes at a temporary path, and moves to its final path when it is complete. An existing file at
 * the final path is replaced, and the new file gets its permissions. Until `keep` is called, `takeBack` can remove the
 * new file and restore the replaced one.
 */

import { randomUUID } from 'node:crypto';
import { type BigIntStats, lstatSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { CommandError, FileError, reasonOf } from '../errors.ts';
import type { Console } from '../output/console.ts';
import { visible } from '../output/visible.ts';
import { moveToNewName, setAside, syncFolderOf } from './moves.ts';
import { identityOf, pathToWrite, refuseStoreFile } from './paths.ts';

/** The bits of a mode that say who may read, write and execute a file. */
const PERMISSIONS = 0o777n;

export class OutputFile {
  /** The path as the user has written it. */
  readonly name: string;
  /** The path without symbolic links. */
  readonly path: string;
  readonly #console: Console;
  /** The temporary path of the new file. */
  readonly #partial: string;
  /** The temporary path of the replaced file. */
  readonly #aside: string;
  /**
   * The version of the file at `path` when this object was created, or `undefined` when there was no file. A file that
   * was created or changed later is not replaced.
   */
  readonly #earlier: string | undefined;
  /** The permissions of the file to replace, or `undefined` for the default of a new file. */
  readonly #mode: number | undefined;
  #own: string | undefined;
  #handle: FileHandle | undefined;

  /**
   * Throws if the file belongs to the store, is not a regular file, or is in a folder that does not exist.
   * @param option the option that names the file
   * @param console prints a warning if a temporary file cannot be removed
   */
  constructor(name: string, option: string, storeFiles: readonly string[], console: Console) {
    refuseStoreFile(name, `${option}: ${name}`, storeFiles);
    this.name = name;
    this.path = pathToWrite(name, option);
    this.#console = console;
    const unique = `${this.path}.${randomUUID()}`;
    this.#partial = `${unique}.partial`;
    this.#aside = `${unique}.earlier`;
    const stats = statsOf(this.path);
    this.#earlier = stats && versionOf(stats);
    this.#mode = stats && Number(stats.mode & PERMISSIONS);
  }

  /** Throws if a file existed at the final path when this object was created. */
  refuseExisting(advice: string): void {
    if (this.#earlier !== undefined) throw new FileError(`${this.name} exists already: ${advice}`);
  }

  /** Appends a text or bytes to the new file. The first call creates the file. */
  async write(data: string | Uint8Array): Promise<void> {
    await this.#attempt(async () => {
      if (this.#handle === undefined) {
        this.#handle = await open(this.#partial, 'wx', this.#mode);
        // The mode of `open` is subject to the umask.
        if (this.#mode !== undefined) await this.#handle.chmod(this.#mode);
      }
      await this.#handle.writeFile(data);
    });
  }

  /**
   * Syncs the new file to the disk, and moves the file to the final path. Rejects if another program has created or
   * changed a file at the final path since this object was created.
   */
  async place(): Promise<void> {
    // Without an earlier write, the new file is empty.
    await this.write('');
    await this.#attempt(async () => {
      await this.#handle?.sync();
      this.#own = identityAt(this.#partial);
      await this.#handle?.close();
      await this.#moveToPath();
      await syncFolderOf(this.path);
    });
  }

  /** Makes the replacement final: deletes the old file, which `place` has moved to a temporary path. */
  async keep(): Promise<void> {
    await this.#cleanUp(() => rm(this.#aside, { force: true }));
  }

  /**
   * Removes the new file, and restores the replaced file. If another program has put a file at the final path, that
   * file stays.
   */
  async takeBack(): Promise<void> {
    await this.#cleanUp(async () => {
      await this.#handle?.close();
      const there = identityAt(this.path);
      const aside = identityAt(this.#aside);
      const isOwn = there !== undefined && there === this.#own;
      if (aside === undefined) {
        if (isOwn) await rm(this.path);
      } else if (isOwn || there === undefined) {
        await rename(this.#aside, this.path);
      } else if (there === aside) {
        await rm(this.#aside);
      }
      await rm(this.#partial, { force: true });
    });
  }

  async #moveToPath(): Promise<void> {
    const changed = new Error('another program has created or changed this file in the meantime');
    const there = statsOf(this.path);
    if (there === undefined) return moveToNewName(this.#partial, this.path, changed);
    if (versionOf(there) !== this.#earlier) throw changed;
    await setAside(this.path, this.#aside);
    if (identityAt(this.#aside) !== identityOf(there)) throw changed;
    await rename(this.#partial, this.path);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => {
      throw new CommandError(`cannot write ${this.name}: ${reasonOf(error)}`);
    });
  }

  async #cleanUp(work: () => Promise<void>): Promise<void> {
    await work().catch((error: Error) => {
      const fault = `a temporary file beside ${this.name} could not be removed: ${error.message}`;
      this.#console.err(`${visible(fault)}\n`);
    });
  }
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
