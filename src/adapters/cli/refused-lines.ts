import { CommandError } from './errors.ts';
import type { Line } from './lines.ts';
import { PlacedFile } from './placed-file.ts';
import { visible } from './visible.ts';

/** Characters that are gathered before they are written. */
const WRITE_SIZE = 64 * 1024;

/** The lines that an import left out, with their numbers and why. No file is made when there is none. */
export class RefusedLines {
  /** As the user named it. */
  readonly file: string;
  readonly #placed: PlacedFile;
  #text = '';
  #count = 0;
  #isMade = false;

  /** @param path where the file is, which an earlier import may have made */
  constructor(file: string, path: string) {
    this.file = file;
    this.#placed = new PlacedFile(path);
  }

  get count(): number {
    return this.#count;
  }

  add({ number, text }: Line, reason: string): void {
    this.#count += 1;
    this.#text += `${visible(JSON.stringify({ line: number, reason, text }))}\n`;
  }

  /** To be called between batches, so that little waits in memory, and a file that cannot be made is told at once. */
  async flush(): Promise<void> {
    if (this.#text.length < (this.#isMade ? WRITE_SIZE : 1)) return;
    await this.#attempt(() => this.#write());
  }

  /** Gives the file its name, with every line on the disk. */
  async place(): Promise<void> {
    if (this.#count === 0) return;
    await this.#attempt(async () => {
      await this.#write();
      await this.#placed.place();
    });
  }

  /** To be called when the import is done. */
  async keep(): Promise<void> {
    await this.#placed.keep();
  }

  /** To be called when the import has failed: no file is left, or the one of an earlier import. */
  async takeBack(): Promise<void> {
    await this.#placed.takeBack();
  }

  async #write(): Promise<void> {
    const text = this.#text;
    this.#text = '';
    this.#isMade = true;
    await this.#placed.write(text);
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw new CommandError(`cannot write ${this.file}: ${(error as Error).message}, nothing was imported`);
    }
  }
}
