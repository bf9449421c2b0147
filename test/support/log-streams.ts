/** The log of a server, and a pipe that nobody reads. */

import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { expectNoKey } from './canary.ts';
import { atEnd, temporaryFolder } from './process.ts';

export type Line = Readonly<Record<string, unknown>>;

export function linesOf(text: string): Line[] {
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

/** A named pipe whose content is read only when the test calls `read`. */
export class Pipe {
  readonly path: string = join(temporaryFolder(), 'pipe');
  readonly #output: number;
  #text = '';

  constructor() {
    expect(spawnSync('mkfifo', [this.path]).status).toBe(0);
    this.#output = openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
    atEnd(() => expectNoKey(this.#text, 'the log'));
  }

  /** Reads all available bytes. Returns all text that was read so far. */
  read(): string {
    const chunk = Buffer.alloc(256 * 1024);
    for (let length = this.#take(chunk); length > 0; length = this.#take(chunk)) {
      this.#text += chunk.toString('utf8', 0, length);
    }
    return this.#text;
  }

  /** Fills the pipe, so that every writer has to wait. */
  fill(): void {
    const input = openSync(this.path, constants.O_WRONLY | constants.O_NONBLOCK);
    expect(() => {
      for (;;) writeSync(input, Buffer.alloc(4096));
    }).toThrow('EAGAIN');
    closeSync(input);
  }

  #take(chunk: Buffer): number {
    try {
      return readSync(this.#output, chunk);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return 0;
      throw error;
    }
  }
}
