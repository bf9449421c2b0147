import type { BigIntStats } from 'node:fs';
import { StorageFault } from '../../application/ports/storage-fault.ts';
import type { CommitGuard } from './batch.ts';
import { isLocked } from './errors.ts';
import { type Findings, failureOf } from './findings.ts';
import { findDamage } from './inspection.ts';
import {
  assertSame,
  assertSameFiles,
  assertWritable,
  folderChangedAt,
  type StoreFiles,
} from './store-files.ts';

/**
 * How long commits rely on the last check of the files of the store, in milliseconds. A check before every commit would
 * make commits slow. Within this time, the files are checked only if a file in their folder was created, removed or
 * renamed.
 */
const FRESH_TIME = 10;

/**
 * Checks that the writer thread commits to the database file at the path of the store, and that no other program
 * truncated or overwrote this file. Usually, only the writer thread changes the database file. After any other change,
 * the file is examined for damage.
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
   * Checks the files of the store after a commit. Throws when another file is at the path of the store, because the
   * commit must not be acknowledged in this case. A commit never makes the database file smaller, so a smaller file is
   * examined for damage.
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
   * Returns a description of the damage to the database file, or `undefined` when no damage was found. While another
   * process has locked the file, the file cannot be read and is considered undamaged. Damage can still be found after
   * the next change of the file, or by the next test of the storage.
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
