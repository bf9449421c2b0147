import { randomUUID } from 'node:crypto';
import { linkSync, renameSync, type Stats } from 'node:fs';
import { dirname } from 'node:path';
import type Database from 'better-sqlite3';
import { OverwriteRefused } from '../../../application/ports/maintenance.ts';
import { storageUnavailable } from '../../../application/ports/storage-fault.ts';
import { type AnimalStoreError, invalidRequest } from '../../../domain/errors.ts';
import { codeOf } from '../../storage-kit/store-errors.ts';
import { connect } from '../database.ts';
import { isLocked } from '../errors.ts';
import { COMPANIONS, fsync, isMountPoint, moveToNewName, sizeOf, statOf } from '../files.ts';
import { countRows, identify, lastIdOf, versionOf } from '../inspection.ts';

/** In milliseconds. A command that has the store open can be ending. */
const LOCK_TIMEOUT = 500;

const UNREADABLE = /^SQLITE_(CORRUPT|NOTADB)/;

/** A store that no other process can open until {@link release}. */
export class ExclusiveStore {
  readonly stats: Stats | undefined;
  readonly #path: string;
  /** Holds the lock. `undefined` when the file does not exist or SQLite cannot read it. */
  readonly #db: Database.Database | undefined;
  readonly #isUnreadable: boolean;

  constructor(path: string, overwrite: boolean) {
    this.#path = path;
    this.stats = statOf(path);
    if (this.stats?.isFile() === false) throw invalidRequest(`${path} is not a regular file`);
    if (isMountPoint(path))
      throw invalidRequest(`${path} is a mount point, which cannot be replaced: mount its folder instead`);
    const isEmpty = (this.stats?.size ?? 0) === 0;
    const hasCompanions = this.#companions().length > 0;
    try {
      // SQLite would treat an empty file as a new database, and delete its write-ahead log.
      if (this.stats !== undefined && !(isEmpty && hasCompanions)) this.#db = lock(path);
      if (this.#db !== undefined && !overwrite) refusePets(path, this.#db);
    } catch (error) {
      this.release();
      if (!UNREADABLE.test(codeOf(error))) throw isLocked(error) ? inUse(path) : error;
      this.#db = undefined;
    }
    this.#isUnreadable = this.#db === undefined && (!isEmpty || hasCompanions);
    if (this.#isUnreadable && !overwrite) throw new OverwriteRefused(`${path} cannot be read as a store`);
  }

  /** Returns the greatest id that the store has assigned, or 0n if the store is new or its damage hides the id. */
  lastId(): bigint {
    try {
      return this.#db === undefined ? 0n : lastIdOf(this.#db);
    } catch {
      return 0n;
    }
  }

  /** Gives `copy` the path of the store in one step. Returns the new names of the files of an unreadable store. */
  replaceBy(copy: string): string[] {
    const setAside = this.#isUnreadable ? this.#setAside() : [];
    if (this.stats !== undefined) renameSync(copy, this.#path);
    else moveToNewName(copy, this.#path, () => inUse(this.#path));
    return setAside;
  }

  release(): void {
    this.#db?.close();
  }

  /**
   * The database file gets a second name and keeps its path, because a server would create a new store at an empty path.
   * The write-ahead log must leave its name, because SQLite would copy its pages into the restored store.
   */
  #setAside(): string[] {
    const name = `${this.#path}.${randomUUID()}.unreadable`;
    const kept: string[] = [];
    if (this.stats !== undefined) {
      linkSync(this.#path, name);
      kept.push(name);
    }
    for (const suffix of this.#companions()) {
      renameSync(this.#path + suffix, name + suffix);
      kept.push(name + suffix);
    }
    fsync(dirname(this.#path));
    return kept;
  }

  /** The suffixes of the companion files that contain data. */
  #companions(): string[] {
    return COMPANIONS.filter((suffix) => sizeOf(this.#path + suffix) > 0);
  }
}

/** SQLite can leave the journal mode WAL only when no other connection exists. */
function lock(path: string): Database.Database {
  return connect(path, LOCK_TIMEOUT, (db) => {
    versionOf(db, `${path}: the file`);
    db.pragma('journal_mode = DELETE');
    db.exec('BEGIN EXCLUSIVE');
    // Another process could open the store between the two statements.
    if (db.pragma('journal_mode', { simple: true }) !== 'delete') throw inUse(path);
  });
}

function refusePets(path: string, db: Database.Database): void {
  if (identify(db).isNew) return;
  const pets = countRows(db, 'pets');
  if (pets > 0) throw new OverwriteRefused(`${path} has ${pets} ${pets === 1 ? 'pet' : 'pets'}`);
}

function inUse(path: string): AnimalStoreError {
  return storageUnavailable(`${path} is in use by another process: stop the server before the restore`);
}
