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
 * The time for which a check of the files is fresh, in milliseconds. A fresh check is repeated only when the folder has
 * changed, because a check before every commit would make the commits slow.
 */
const FRESH_TIME = 10;

/**
 * Ensures that commits go to the file at the path of the store, and that no other program truncated or overwrote this
 * file. Usually only the connection of this guard changes the file, so the file is examined for damage after any other
 * change.
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

  /** Checks the files before a commit. When the check throws, nothing is stored. */
  beforeCommit(): void {
    const isFresh = performance.now() - this.#checkedAt < FRESH_TIME;
    if (!isFresh || folderChangedAt(this.#files) !== this.#folderChangedAt) this.assertUnharmed();
  }

  /**
   * Checks the files after a commit. A commit must not be acknowledged when the path has another file. A commit never
   * makes the file smaller, so a smaller file is examined for damage.
   */
  afterCommit(): void {
    const state = assertSame(this.#files.main);
    if (state.size < this.#size) this.#assertSound();
    // The log is checked only when the folder has changed, because a `stat` of the log after each commit would make the
    // commits slow.
    const folderChanged = folderChangedAt(this.#files);
    if (folderChanged !== this.#folderChangedAt) assertSameFiles(this.#files);
    this.#remember(state, folderChanged);
  }

  /** Throws a {@link StorageFault} when another program removed, replaced or damaged the file. */
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
   * Returns a description of the damage, or `undefined` when no damage was found. While another process holds the lock,
   * the file cannot be read. A locked file is considered sound until its next change or the next probe.
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
