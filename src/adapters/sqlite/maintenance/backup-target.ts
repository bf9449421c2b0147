import { existsSync, lstatSync, renameSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { OverwriteRefused } from '../../../application/ports/maintenance.ts';
import { storageUnavailable } from '../../../application/ports/storage-fault.ts';
import { type AnimalStoreError, invalidRequest } from '../../../domain/errors.ts';
import { COMPANIONS, isFileOf, moveToNewName, realPath } from '../files.ts';

export interface BackupTarget {
  readonly file: string;
  /** Where `file` leads, if it is a symbolic link. */
  readonly path: string;
  readonly overwrite: boolean;
}

/** Returns the target of a backup. Throws when a backup must not be written there, for example over its store. */
export function backupTarget(file: string, store: string, overwrite: boolean): BackupTarget {
  if (file.endsWith('/') || file.endsWith(sep)) throw directory(file);
  const path = lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() ? realPath(file) : file;
  if (!existsSync(dirname(path))) throw storageUnavailable(`cannot write ${file}: its folder does not exist`);
  if (isFileOf(store, path)) throw invalidRequest(`${file} belongs to the store`);
  const target = { file, path, overwrite };
  refuseUnusable(target);
  return target;
}

/** Moves the finished copy to the target. Checks the target again, because the copy takes time. */
export function moveToTarget(copy: string, target: BackupTarget): void {
  refuseUnusable(target);
  if (target.overwrite) renameSync(copy, target.path);
  else moveToNewName(copy, target.path, () => existing(target.file));
}

/** SQLite recognizes companion files only by their names, copies their contents into the database, and deletes them. */
function refuseUnusable({ file, path, overwrite }: BackupTarget): void {
  for (const suffix of COMPANIONS) {
    if (path.endsWith(suffix)) {
      throw invalidRequest(
        `${file} ends in ${suffix}: SQLite would treat the backup as a part of another database and delete it`,
      );
    }
    if (existsSync(path + suffix)) {
      throw invalidRequest(`${path}${suffix} exists: SQLite would treat it as a part of the backup`);
    }
  }
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.isDirectory()) throw directory(file);
  if (!stats.isFile()) throw invalidRequest(`${file} is not a regular file`);
  if (!overwrite) throw existing(file);
}

function existing(file: string): AnimalStoreError {
  return new OverwriteRefused(`${file} exists already`);
}

function directory(file: string): AnimalStoreError {
  return invalidRequest(`${file}: expected the path of a file, got a directory`);
}
