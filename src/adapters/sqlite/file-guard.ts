import { StorageFault } from '../../application/storage-fault.ts';
import type { CommitGuard } from './batch.ts';
import { findDamage } from './database.ts';
import { type Findings, failureOf } from './findings.ts';
import { assertSame, assertWritable, type StoreFiles } from './store-files.ts';

/**
 * Sees to it that a commit goes to the file at the store's path, and that nobody has cut or overwritten that file. It
 * belongs to the only connection that changes the file as a rule, so what else changed it is looked into.
 */
export class FileGuard implements CommitGuard {
  readonly #files: StoreFiles;
  #size: bigint | undefined;
  #modifiedAt: bigint | undefined;

  constructor(files: StoreFiles) {
    this.#files = files;
    this.#remember();
  }

  /** Nothing is stored when this throws, so it tells all that can be told before. */
  beforeCommit(): void {
    const { size, mtimeNs } = assertSame(this.#files.main);
    if (size === this.#size && mtimeNs === this.#modifiedAt) return;
    const damage = findDamage(this.#files);
    if (damage !== undefined) {
      throw new StorageFault('damaged', 'the database file was changed by another program and is damaged', {
        cause: damage,
      });
    }
    this.#size = size;
    this.#modifiedAt = mtimeNs;
  }

  /** What was committed to another file than the one at the path must not be acknowledged. */
  afterCommit(): void {
    this.#remember();
    assertSame(this.#files.log);
  }

  findings(): Findings {
    try {
      assertWritable(this.#files);
      return {};
    } catch (error) {
      return { access: failureOf(error) };
    }
  }

  #remember(): void {
    const { size, mtimeNs } = assertSame(this.#files.main);
    this.#size = size;
    this.#modifiedAt = mtimeNs;
  }
}
