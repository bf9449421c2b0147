/** A process that works until it is told to stop, and then reports its results. */

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

export class Helper<Result> {
  readonly #child: ChildProcess;
  readonly #result: Promise<Result>;

  /** @param file in the folder of this one */
  constructor(file: string, ...args: readonly string[]) {
    this.#child = fork(join(import.meta.dirname, file), args, { execArgv: [] });
    this.#result = Promise.race([
      once(this.#child, 'message').then(([result]) => result as Result),
      once(this.#child, 'exit').then(([code]) => Promise.reject(new Error(`${file} ended with ${code}`))),
    ]);
    this.#result.catch(() => {});
  }

  async stop(): Promise<Result> {
    if (this.#child.connected) this.#child.send('stop');
    const result = await this.#result;
    if (this.#child.exitCode === null) await once(this.#child, 'exit');
    return result;
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}
