/** Ends a server and removes its folder when this process ends, even if SIGKILL ends it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';

/**
 * Reads process ids from standard input, which the operating system closes when the test process ends. Then the script
 * stops the last process and removes the folder. A process that was frozen must continue before it can stop. The
 * process can remain as a zombie, so the script also looks for the lock file of PostgreSQL.
 */
const SCRIPT = `
pid=
while read -r next; do pid=$next; done
if [ -n "$pid" ]; then
  kill -CONT "$pid"
  kill -QUIT "$pid"
  sleep 0.1
  turns=0
  while kill -0 "$pid" && [ -e "$1/data/postmaster.pid" ] && [ $turns -lt 100 ]; do
    sleep 0.1
    turns=$((turns + 1))
  done
fi
rm -rf "$1"
`;

export class Guard {
  readonly #shell: ChildProcess;
  readonly #exit: Promise<unknown>;

  /**
   * @param folder the folder to remove
   * @param script does so when its standard input ends, and ends the processes first
   */
  constructor(folder: string, script: string = SCRIPT) {
    // The script is not in the process group of the test, because Ctrl-C ends all processes of that group.
    this.#shell = spawn('/bin/sh', ['-c', script, 'sh', folder], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.#exit = once(this.#shell, 'exit');
    this.#shell.unref();
    (this.#shell.stdin as Socket).unref();
    // When SIGKILL ends Vitest, its worker processes continue until the end of the current test.
    process.once('disconnect', this.#end);
  }

  readonly #end = (): void => void this.#shell.stdin?.end();

  /** Guards a process instead of the previous one, or none. */
  watch(pid: number | undefined): void {
    this.#shell.stdin?.write(`${pid ?? ''}\n`);
  }

  /** Stops the process and removes the folder. */
  async close(): Promise<void> {
    process.off('disconnect', this.#end);
    this.#shell.ref();
    this.#end();
    await this.#exit;
  }
}
