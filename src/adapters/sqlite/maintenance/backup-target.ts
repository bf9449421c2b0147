/** The target file of a backup, and the checks that refuse a target that must not be overwritten. */

import { existsSync, lstatSync, renameSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { OverwriteRefused } from '../../../application/ports/maintenance.ts';
import { type AnimalStoreError, invalidRequest } from '../../../domain/errors.ts';
import { unavailable } from '../errors.ts';
import { COMPANIONS, isFileOf, moveToNewName, realPath } from '../files.ts';

/**
 * The target of a backup. The constructor checks the path of the target before the copy is made. `moveHere` checks the
 * path again, and then moves the finished copy to it.
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
    this.path = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ? realPath(file) : file;
    if (!existsSync(dirname(this.path))) {
      throw unavailable(`cannot write ${file}: its folder does not exist`);
    }
    if (isFileOf(store, this.path)) throw invalidRequest(`${file} belongs to the store`);
    this.#refuseUnusable();
  }

  /**
   * Moves the finished copy to the path of the target. If another program has created a file at this path since the
   * constructor ran, the file is replaced when `overwrite` is `true`. Otherwise, `moveHere` throws.
   */
  moveHere(copy: string): void {
    this.#refuseUnusable();
    if (this.#overwrite) renameSync(copy, this.path);
    else moveToNewName(copy, this.path, () => this.#existing());
  }

  /**
   * Throws when the target must not be written or replaced, or when SQLite would confuse files: when the target has the
   * name of a companion file of another database, or when a file with the name of a companion file of the target exists.
   * SQLite recognizes companion files ({@link COMPANIONS}) only by their names, copies their contents into the database,
   * and deletes them.
   */
  #refuseUnusable(): void {
    for (const suffix of COMPANIONS) {
      if (this.path.endsWith(suffix)) {
        throw invalidRequest(
          `${this.#file} ends in ${suffix}: SQLite would treat the backup as a part of another database and delete it`,
        );
      }
      if (existsSync(this.path + suffix)) {
        throw invalidRequest(`${this.path}${suffix} exists: SQLite would treat it as a part of the backup`);
      }
    }
    const existing = lstatSync(this.path, { throwIfNoEntry: false });
    if (existing === undefined) return;
    if (existing.isDirectory()) throw this.#directory();
    if (!existing.isFile()) throw invalidRequest(`${this.#file} is not a regular file`);
    if (!this.#overwrite) throw this.#existing();
  }

  #existing(): AnimalStoreError {
    return new OverwriteRefused(`${this.#file} exists already`);
  }

  #directory(): AnimalStoreError {
    return invalidRequest(`${this.#file}: expected the path of a file, got a directory`);
  }
}
