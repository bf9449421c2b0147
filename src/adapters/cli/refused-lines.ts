import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rename, rm } from 'node:fs/promises';
import type { Line } from './lines.ts';
import { visible } from './visible.ts';

/** Characters that are gathered before they are written. */
const WRITE_SIZE = 64 * 1024;

/** The lines that an import left out, with their numbers and why. The file has its name once the import is done. */
export class RefusedLines {
  readonly file: string;
  readonly #partial: string;
  #handle: FileHandle | undefined;
  #text = '';
  #count = 0;

  constructor(file: string) {
    this.file = file;
    this.#partial = `${file}.${randomUUID()}.partial`;
  }

  get count(): number {
    return this.#count;
  }

  add({ number, text }: Line, reason: string): void {
    this.#count += 1;
    this.#text += `${visible(JSON.stringify({ line: number, reason, text }))}\n`;
  }

  /** To be called between batches, so that little waits in memory. */
  async flush(): Promise<void> {
    if (this.#text.length >= WRITE_SIZE) await this.#write();
  }

  /** Sees that everything is on the disk, still under the other name. */
  async finish(): Promise<void> {
    if (this.#count === 0) return;
    await this.#write();
    await this.#handle?.sync();
    await this.#close();
  }

  /** Gives the file its name. One of an earlier import is replaced; none is made when no line was refused. */
  async keep(): Promise<void> {
    if (this.#count > 0) await rename(this.#partial, this.file);
  }

  /** Takes away what was not kept. */
  async discard(): Promise<void> {
    await this.#close();
    await rm(this.#partial, { force: true });
  }

  async #write(): Promise<void> {
    this.#handle ??= await open(this.#partial, 'wx');
    const text = this.#text;
    this.#text = '';
    await this.#handle.writeFile(text);
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
