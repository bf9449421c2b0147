import type { BigIntStats } from 'node:fs';
import { StorageFault } from '../../application/storage-fault.ts';
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

/** How long a check stands while the folder has not changed, in milliseconds. Commits come fast under load. */
const FRESH = 10;

/**
 * Sees to it that a commit goes to the file at the store's path, and that nobody has cut or overwritten that file. It
 * belongs to the only connection that changes the file as a rule, so what else changed it is looked into.
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

  /** Nothing is stored when this throws. After a commit it would not be known. */
  beforeCommit(): void {
    const isFresh = performance.now() - this.#checkedAt < FRESH;
    if (!isFresh || folderChangedAt(this.#files) !== this.#folderChangedAt) this.assertUnharmed();
  }

  /** What was committed to another file than the one at the path must not be acknowledged. A commit cuts no file. */
  afterCommit(): void {
    const state = assertSame(this.#files.main);
    if (state.size < this.#size) this.#assertSound();
    // Asking for the state of the log itself after each write to it would slow down the writes.
    const folderChanged = folderChangedAt(this.#files);
    if (folderChanged !== this.#folderChangedAt) assertSameFiles(this.#files);
    this.#remember(state, folderChanged);
  }

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

  /** A file that is locked cannot be looked into, and is taken for sound until the next change or probe. */
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
