/** A process that works until it is told to stop, and then reports its results. */

import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { atEnd } from '../../support/process.ts';

export class Helper<Result> {
  readonly #child: ChildProcess;
  readonly #started = Promise.withResolvers<void>();
  readonly #result = Promise.withResolvers<Result>();
  /** Resolves when the process says that its work has begun. */
  readonly started: Promise<void> = this.#started.promise;

  /** @param file in the folder of this one */
  constructor(file: string, argument: unknown) {
    this.#child = fork(join(import.meta.dirname, file), [JSON.stringify(argument)], { execArgv: [] });
    this.#child.on('message', (message) =>
      message === 'started' ? this.#started.resolve() : this.#result.resolve(message as Result),
    );
    this.#child.once('exit', (code) => {
      const error = new Error(`${file} ended with ${code}`);
      for (const { promise, reject } of [this.#started, this.#result]) {
        promise.catch(() => {});
        reject(error);
      }
    });
    atEnd(() => this.#child.kill('SIGKILL'));
  }

  stop(): Promise<Result> {
    if (this.#child.connected) this.#child.send('stop');
    return this.#result.promise;
  }
}
