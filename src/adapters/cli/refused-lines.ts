import { CommandError, reasonOf } from './errors.ts';
import type { Line } from './lines.ts';
import { PlacedFile } from './placed-file.ts';
import { visible } from './visible.ts';

/** The buffer is written when it contains at least this many characters. */
const WRITE_SIZE = 64 * 1024;

/**
 * Writes the refused lines of an import to a file, with the line numbers and the reasons. If no line is refused, no
 * file is created.
 */
export class RefusedLines {
  /** The path of the file of refused lines, as shown to the user. */
  readonly file: string;
  readonly #placed: PlacedFile;
  #text = '';
  #count = 0;
  #isCreated = false;

  /** @param path the path of `file` without symbolic links. An existing file at this path is replaced. */
  constructor(file: string, path: string) {
    this.file = file;
    this.#placed = new PlacedFile(path);
  }

  /** Whether a file existed at the path when this object was created. */
  get replacesFile(): boolean {
    return this.#placed.replacesFile;
  }

  get count(): number {
    return this.#count;
  }

  add({ number, text }: Line, reason: string): void {
    this.#count += 1;
    this.#text += `${visible(JSON.stringify({ line: number, reason, text }))}\n`;
  }

  /**
   * Writes the buffer if it contains the first refused line or at least `WRITE_SIZE` characters. Must be called after
   * each batch, so that the buffer stays small and a write error ends the import early.
   */
  async flush(): Promise<void> {
    if (this.#text.length < (this.#isCreated ? WRITE_SIZE : 1)) return;
    await this.#attempt(() => this.#write());
  }

  /**
   * Completes the file of refused lines, syncs it to the disk, and moves it to its final path. Does nothing if no line
   * was refused.
   */
  async place(): Promise<void> {
    if (this.#count === 0) return;
    await this.#attempt(async () => {
      await this.#write();
      await this.#placed.place();
    });
  }

  /** Removes the existing file that `place` replaced. Must be called after a successful import. */
  async keep(): Promise<void> {
    await this.#placed.keep();
  }

  /**
   * Removes the file of refused lines, and restores the existing file that `place` replaced. Must be called after a
   * failed import.
   */
  async takeBack(): Promise<void> {
    await this.#placed.takeBack();
  }

  async #write(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    this.#isCreated = true;
    await this.#placed.write(text);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw new CommandError(`cannot write ${this.file}: ${reasonOf(error)}; nothing was imported`);
    }
  }
}
