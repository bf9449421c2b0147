/** The target of a backup, and the checks that refuse a target that must not be overwritten. */

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

/**
 * The constructor checks the target before the copy is made. `take` checks again that the target may be written, and
 * then gives the copy its name.
 */
export class BackupTarget {
  /**
   * The path that the backup is written to. When `file` is a symbolic link, `path` is the path that the link points to.
   */
  readonly path: string;
  readonly #file: string;
  readonly #overwrite: boolean;

  /** @param store the path of the store; the store is never overwritten */
  constructor(file: string, store: string, overwrite: boolean) {
    this.#file = file;
    this.#overwrite = overwrite;
    this.path = statOf(file)?.isSymbolicLink() ? this.#linkedPath() : file;
    this.#refuseStore(store);
    this.#refuseCompanions();
    this.#refuseExisting();
  }

  /**
   * Renames the copy to `path`. A file that another program has created at `path` since the constructor ran is replaced
   * when `overwrite` is `true`, and refused otherwise.
   */
  take(copy: string): void {
    this.#refuseCompanions();
    this.#refuseExisting();
    if (this.#overwrite) renameSync(copy, this.path);
    else this.#takeNewName(copy);
  }

  /**
   * Gives the copy the name `path` without replacing an existing file. Uses a hard link, because creating a hard link
   * fails when the file exists. On a file system without hard links, first creates an empty file at `path`, and
   * replaces it with the copy.
   */
  #takeNewName(copy: string): void {
    try {
      linkSync(copy, this.path);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') throw this.#exists();
      this.#reserve();
      renameSync(copy, this.path);
    }
  }

  /** Creates an empty file at `path`. Throws when a file already exists at `path`. */
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

  /**
   * Refuses a target that SQLite would treat as a companion file, and a target that already has companion files. SQLite
   * recognizes companion files by their names alone: it copies their contents into the database and deletes them.
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
    if (!existing.isFile()) throw this.#notRegular();
    if (!this.#overwrite) throw this.#exists();
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

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
