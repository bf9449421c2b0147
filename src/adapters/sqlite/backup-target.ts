/** The name that a backup gets: which one is allowed, and how the copy comes to it without harm to anything else. */

import {
  type BigIntStats,
  closeSync,
  existsSync,
  linkSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  statSync,
} from 'node:fs';
import { AnimalStoreError } from '../../domain/errors.ts';
import { COMPANIONS, databaseFiles } from './files.ts';

export class BackupTarget {
  /** Where the backup is written: where `file` leads when it is a symbolic link. */
  readonly path: string;
  readonly #file: string;
  readonly #overwrite: boolean;

  /** @param store the path of the store, which is never written over */
  constructor(file: string, store: string, overwrite: boolean) {
    this.#file = file;
    this.#overwrite = overwrite;
    this.path = lookAt(file)?.isSymbolicLink() ? this.#linkedPath() : file;
    this.#refuseStore(store);
    this.#refuseCompanions();
    this.#refuseExisting();
  }

  /** Gives the copy the name. What appeared there since is replaced only where that is wanted. */
  take(copy: string): void {
    this.#refuseCompanions();
    this.#refuseExisting();
    if (this.#overwrite) renameSync(copy, this.path);
    else this.#takeNewName(copy);
  }

  /** A link is refused where there is a file by now; but not every file system has links. */
  #takeNewName(copy: string): void {
    try {
      linkSync(copy, this.path);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw this.#exists();
      this.#reserve();
      renameSync(copy, this.path);
    }
  }

  /** An empty file, which is made only where there is none. */
  #reserve(): void {
    try {
      closeSync(openSync(this.path, 'wx'));
    } catch (error) {
      throw codeOf(error) === 'EEXIST' ? this.#exists() : error;
    }
  }

  #linkedPath(): string {
    try {
      return realpathSync(this.#file);
    } catch {
      throw this.#notRegular();
    }
  }

  #refuseStore(store: string): void {
    const target = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    for (const file of target === undefined ? [] : databaseFiles(store)) {
      const own = statSync(file, { bigint: true, throwIfNoEntry: false });
      if (own?.ino === target?.ino && own?.dev === target?.dev) {
        throw invalid(`${this.#file} is the store itself`);
      }
    }
  }

  /** SQLite takes a file for a part of a database by its name alone, replays what is in it, and deletes it. */
  #refuseCompanions(): void {
    for (const suffix of COMPANIONS) {
      if (this.path.endsWith(suffix)) {
        throw invalid(
          `${this.#file} ends in ${suffix}: SQLite would take the backup for a part of another database and delete it`,
        );
      }
      if (existsSync(this.path + suffix)) {
        throw invalid(`${this.path}${suffix} exists: SQLite would take it for a part of the backup`);
      }
    }
  }

  #refuseExisting(): void {
    const there = lookAt(this.path);
    if (there === undefined) return;
    if (!there.isFile()) throw this.#notRegular();
    if (!this.#overwrite) throw this.#exists();
  }

  #notRegular(): AnimalStoreError {
    return invalid(`${this.#file} is not a regular file`);
  }

  #exists(): AnimalStoreError {
    return invalid(`${this.#file} exists already`);
  }
}

function lookAt(file: string): BigIntStats | undefined {
  return lstatSync(file, { bigint: true, throwIfNoEntry: false });
}

function invalid(message: string): AnimalStoreError {
  return new AnimalStoreError('invalid_request', message);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
