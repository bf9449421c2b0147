import { randomUUID } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { CommandError, FileError, reasonOf } from '../errors.ts';
import { identityOf, pathToWrite, refuseStoreFile } from './paths.ts';

const PERMISSIONS = 0o777n;

/**
 * A file that is written at a temporary path, and replaces an existing file of the same permissions, unless another
 * program has created or changed that file in the meantime.
 */
export class OutputFile {
  /** The path as the user has written it. */
  readonly name: string;
  /** The path without symbolic links. */
  readonly path: string;
  /** The temporary path. */
  readonly partial: string;
  readonly #earlier: Version | undefined;
  #handle: FileHandle | undefined;

  constructor(name: string, option: string, storeFiles: readonly string[]) {
    refuseStoreFile(name, `${option}: ${name}`, storeFiles);
    this.name = name;
    this.path = pathToWrite(name, option);
    this.partial = `${this.path}.${randomUUID()}.partial`;
    this.#earlier = versionAt(this.path);
  }

  refuseExisting(advice: string): void {
    if (this.#earlier !== undefined) throw new FileError(`${this.name} exists already: ${advice}`);
  }

  async write(data: string | Uint8Array): Promise<void> {
    await this.#attempt(async () => {
      if (this.#handle === undefined) {
        const mode = this.#earlier?.permissions;
        this.#handle = await open(this.partial, 'wx', mode);
        // The mode of `open` is subject to the umask.
        if (mode !== undefined) await this.#handle.chmod(mode);
      }
      await this.#handle.writeFile(data);
    });
  }

  /** Makes the new file durable at its temporary path. Rejects if it could not be moved to its final path. */
  async complete(): Promise<void> {
    // Without an earlier write, the new file is empty.
    await this.write('');
    await this.#attempt(async () => {
      await this.#handle?.sync();
      await this.#handle?.close();
      await this.#syncFolder();
      this.#refuseChange();
    });
  }

  async place(): Promise<void> {
    await this.#attempt(async () => {
      this.#refuseChange();
      await rename(this.partial, this.path);
      await this.#syncFolder();
    });
  }

  /** Removes a file that was not placed. A failure leaves it, and the command reports its own error. */
  async discard(): Promise<void> {
    await this.#handle?.close().catch(() => {});
    await rm(this.partial, { force: true }).catch(() => {});
  }

  #refuseChange(): void {
    const version = versionAt(this.path)?.text;
    if (version !== undefined && version !== this.#earlier?.text) {
      throw new Error('another program has created or changed this file in the meantime');
    }
  }

  async #syncFolder(): Promise<void> {
    const folder = await open(dirname(this.path));
    await folder.sync().finally(() => folder.close());
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    await work().catch((error: unknown) => {
      throw new CommandError(`cannot write ${this.name}: ${reasonOf(error)}`);
    });
  }
}

interface Version {
  readonly permissions: number;
  /** Includes the mode, the size and the time, because the inode number can be reused for another file. */
  readonly text: string;
}

function versionAt(path: string): Version | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (stats === undefined) return undefined;
  const text = [identityOf(stats), stats.mode, stats.size, stats.mtimeNs].join();
  return { permissions: Number(stats.mode & PERMISSIONS), text };
}
