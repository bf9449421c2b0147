import type { BigIntStats } from 'node:fs';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import type { CommitGuard } from './batch.ts';
import { findDamage } from './database.ts';
import { isLocked } from './errors.ts';
import { type Findings, failureOf } from './findings.ts';
import {
  assertSame,
  assertSameFiles,
  assertWritable,
  folderChangedAt,
  type StoreFiles,
} from './store-files.ts';

/**
 * How long the result of a check of the store's files is reused, in milliseconds. A check before every commit would make
 * commits slow. During this time, the files are checked again only if their folder has changed.
 */
const FRESH_TIME = 10;

/**
 * Checks that commits go to the database file at the path of the store, and that no other program truncated or
 * overwrote this file. Usually, only the connection of this guard changes the database file. After any other change,
 * the guard examines the database file for damage.
 */
export class FileGuard implements CommitGuard {
  readonly #files: StoreFiles;
  #size: bigint;
  #modifiedAt: bigint;
  #folderChangedAt: bigint | undefined;
  #checkedAt = Number.NEGATIVE_INFINITY;

  constructor(files: StoreFiles) {
    this.#files = files;
    const { size, mtimeNs } = assertSame(files.main);
    this.#size = size;
    this.#modifiedAt = mtimeNs;
  }

  /** Checks the files of the store before a commit. When this method throws, nothing is stored. */
  beforeCommit(): void {
    const isFresh = performance.now() - this.#checkedAt < FRESH_TIME;
    if (!isFresh || folderChangedAt(this.#files) !== this.#folderChangedAt) this.assertUnharmed();
  }

  /**
   * Checks the files of the store after a commit. The commit must not be acknowledged when another file is at the path
   * of the store. A commit never makes the database file smaller, so a smaller file is examined for damage.
   */
  afterCommit(): void {
    const state = assertSame(this.#files.main);
    if (state.size < this.#size) this.#assertSound();
    // The write-ahead log is checked only when its folder has changed. A `stat` of the log after each commit would make
    // commits slow.
    const folderChanged = folderChangedAt(this.#files);
    if (folderChanged !== this.#folderChangedAt) assertSameFiles(this.#files);
    this.#remember(state, folderChanged);
  }

  /** Throws a {@link StorageFault} when another program removed, replaced or damaged the database file. */
  assertUnharmed(): void {
    const state = assertSame(this.#files.main);
    if (state.size !== this.#size || state.mtimeNs !== this.#modifiedAt) this.#assertSound();
    const folderChanged = folderChangedAt(this.#files);
    assertSameFiles(this.#files);
    this.#remember(state, folderChanged);
  }

  findings(): Findings {
    try {
      assertWritable(this.#files);
      return {};
    } catch (error) {
      return { access: failureOf(error) };
    }
  }

  #assertSound(): void {
    const damage = this.#findDamage();
    if (damage === undefined) return;
    throw new StorageFault('damaged', 'the database file was changed by another program and is damaged', {
      cause: damage,
    });
  }

  /**
   * Returns a description of the damage to the database file, or `undefined` when no damage was found. A file that
   * another process has locked cannot be read. A locked file is considered undamaged until its next change or the next
   * probe.
   */
  #findDamage(): string | undefined {
    try {
      return findDamage(this.#files);
    } catch (error) {
      if (isLocked(error)) return undefined;
      throw error;
    }
  }

  #remember({ size, mtimeNs }: BigIntStats, folderChanged: bigint | undefined): void {
    this.#size = size;
    this.#modifiedAt = mtimeNs;
    this.#folderChangedAt = folderChanged;
    this.#checkedAt = performance.now();
  }
}
