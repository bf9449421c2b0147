/** A file that has its name, whole and durable, before something else is final, and can be taken back until then. */

import { randomUUID } from 'node:crypto';
import { type BigIntStats, lstatSync } from 'node:fs';
import { type FileHandle, link, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { identityOf } from './files.ts';

export class PlacedFile {
  readonly #path: string;
  /** Where it is written. */
  readonly #partial: string;
  /** Where a file that it replaces is, until this one is kept. */
  readonly #aside: string;
  /** Tells the file that may be replaced, as it was in the beginning, from any later one. */
  readonly #earlier: string | undefined;
  #own: string | undefined;
  #handle: FileHandle | undefined;

  /** @param path the name of a regular file, or of none: this very file is replaced, and none that comes later */
  constructor(path: string) {
    const unique = `${path}.${randomUUID()}`;
    this.#path = path;
    this.#partial = `${unique}.partial`;
    this.#aside = `${unique}.earlier`;
    this.#earlier = versionAt(path);
  }

  /** Makes the file when this is the first text. */
  async write(text: string): Promise<void> {
    this.#handle ??= await open(this.#partial, 'wx');
    await this.#handle.writeFile(text);
  }

  /** Gives the file its name, once all of it is on the disk. */
  async place(): Promise<void> {
    await this.#finish();
    const there = identityAt(this.#path);
    if (there === undefined) {
      await moveToNewName(this.#partial, this.#path, () => this.#changed());
    } else {
      if (versionAt(this.#path) !== this.#earlier) throw this.#changed();
      await setAside(this.#path, this.#aside);
      if (identityAt(this.#aside) !== there) throw this.#changed();
      await rename(this.#partial, this.#path);
    }
    await syncFolderOf(this.#path);
  }

  /** Lets go of the file that was replaced. */
  async keep(): Promise<void> {
    await rm(this.#aside, { force: true });
  }

  /** Makes everything as it was. */
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
    return new Error('something else has been put there meanwhile');
  }
}

/** A link is refused where there is a file by now, which renaming would replace; but not every file system has links. */
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
  const stats = lookAt(path);
  return stats && identityOf(stats);
}

/** The number of an inode may be given to the next file, so what else there is to know counts too. */
function versionAt(path: string): string | undefined {
  const stats = lookAt(path);
  return stats && [identityOf(stats), stats.mode, stats.size, stats.mtimeNs].join();
}

function lookAt(path: string): BigIntStats | undefined {
  return lstatSync(path, { bigint: true, throwIfNoEntry: false });
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
