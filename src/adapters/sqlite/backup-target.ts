/** The target file of a backup, and the checks that refuse a target that must not be overwritten. */

import { type BigIntStats, existsSync, lstatSync, realpathSync, renameSync, statSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { AnimalStoreError } from '../../domain/errors.ts';
import { COMPANIONS, databaseFiles } from './files.ts';
import { moveToNewName } from './new-name.ts';

/**
 * The target of a backup. The constructor checks the path of the target before the copy is made. `take` checks the path
 * again, and then moves the finished copy to it.
 */
export class BackupTarget {
  /**
   * The path of the target. When the constructor argument `file` is a symbolic link, `path` is the path that the link
   * points to.
   */
  readonly path: string;
  readonly #file: string;
  readonly #overwrite: boolean;

  /** @param store the path of the store, which is never overwritten */
  constructor(file: string, store: string, overwrite: boolean) {
    this.#file = file;
    this.#overwrite = overwrite;
    if (file.endsWith('/') || file.endsWith(sep)) throw this.#directory();
    this.path = statOf(file)?.isSymbolicLink() ? this.#linkedPath() : file;
    this.#refuseMissingFolder();
    this.#refuseStore(store);
    this.#refuseCompanions();
    this.#refuseExisting();
  }

  /**
   * Moves the finished copy to the path of the target. If another program has created a file at this path since the
   * constructor ran, the file is replaced when `overwrite` is `true`. Otherwise, `take` throws.
   */
  take(copy: string): void {
    this.#refuseCompanions();
    this.#refuseExisting();
    if (this.#overwrite) renameSync(copy, this.path);
    else moveToNewName(copy, this.path, () => this.#exists());
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

  /**
   * Throws when SQLite would confuse files: when the target has the name of a companion file of another database, or
   * when a file with the name of a companion file of the target exists. SQLite recognizes companion files ({@link
   * COMPANIONS}) only by their names, copies their contents into the database, and deletes them.
   */
  #refuseCompanions(): void {
    for (const suffix of COMPANIONS) {
      if (this.path.endsWith(suffix)) {
        throw invalid(
          `${this.#file} ends in ${suffix}: SQLite would treat the backup as a part of another database and delete it`,
        );
      }
      if (existsSync(this.path + suffix)) {
        throw invalid(`${this.path}${suffix} exists: SQLite would treat it as a part of the backup`);
      }
    }
  }

  #refuseExisting(): void {
    const existing = statOf(this.path);
    if (existing === undefined) return;
    if (existing.isDirectory()) throw this.#directory();
    if (!existing.isFile()) throw this.#notRegular();
    if (!this.#overwrite) throw this.#exists();
  }

  #refuseMissingFolder(): void {
    if (existsSync(dirname(this.path))) return;
    throw new AnimalStoreError(
      'storage_unavailable',
      `cannot write ${this.#file}: its folder does not exist`,
    );
  }

  #directory(): AnimalStoreError {
    return invalid(`${this.#file}: expected the path of a file, got a directory`);
  }

  #notRegular(): AnimalStoreError {
    return invalid(`${this.#file} is not a regular file`);
  }

  #exists(): AnimalStoreError {
    return invalid(`${this.#file} already exists`);
  }
}

function statOf(file: string): BigIntStats | undefined {
  return lstatSync(file, { bigint: true, throwIfNoEntry: false });
}

function invalid(message: string): AnimalStoreError {
  return new AnimalStoreError('invalid_request', message);
}
