/** Runs the processes of a cluster in a temporary folder, and ends all of them. */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import {
  chownSync,
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Guard } from '../support/postgres/guard.ts';
import { serverUser, signal } from '../support/postgres/server.ts';
import { PATH } from './packages.ts';

/**
 * Waits until standard input is closed, which the operating system does when the test process ends. Then ends all
 * processes whose working directory is in the folder, and removes the folder. Patroni ends first, because it would start
 * PostgreSQL again. PostgreSQL gets time to remove its shared memory; a paused process must continue for this.
 */
const GUARD = `
in_folder() {
  for process in /proc/[0-9]*; do
    case "$(readlink "$process/cwd")" in "$1"/*) echo "$process $(cat "$process/comm")" ;; esac
  done 2>/dev/null
}
while read -r line; do :; done
in_folder "$1" | while read -r process name; do [ "$name" = postgres ] || kill -KILL "\${process#/proc/}"; done
in_folder "$1" | while read -r process name; do
  kill -QUIT "\${process#/proc/}"
  kill -CONT "\${process#/proc/}"
done
turns=0
while [ -n "$(in_folder "$1")" ] && [ $turns -lt 50 ]; do sleep 0.1; turns=$((turns + 1)); done
in_folder "$1" | while read -r process name; do kill -KILL "\${process#/proc/}"; done
rm -rf "$1"
`;

export class ProcessFolder {
  readonly path: string;
  readonly #user: ReturnType<typeof serverUser> = serverUser();
  readonly #guard: Guard;

  constructor() {
    this.path = realpathSync(mkdtempSync(join(tmpdir(), 'animal-store-failover-')));
    this.#guard = new Guard(this.path, GUARD);
    this.#own(this.path);
  }

  /** Creates a folder that the processes can write to. */
  newFolder(name: string): string {
    const folder = join(this.path, name);
    mkdirSync(folder, { mode: 0o700 });
    this.#own(folder);
    return folder;
  }

  /** Runs a program in a folder, as a user other than root. The output is appended to the file `log` there. */
  run(folder: string, program: string, args: readonly string[]): ChildProcess {
    const log = openSync(join(folder, 'log'), 'a');
    const options: SpawnOptions = { detached: true, stdio: ['ignore', log, log], cwd: folder };
    const env = { PATH, HOME: folder, LC_ALL: 'C.UTF-8' };
    const child = spawn(program, args, { ...options, ...this.#user, env });
    closeSync(log);
    child.unref();
    return child;
  }

  /** Ends all processes, and removes the folder. */
  close(): Promise<void> {
    return this.#guard.close();
  }

  #own(folder: string): void {
    const { uid, gid } = this.#user;
    if (uid !== undefined && gid !== undefined) chownSync(folder, uid, gid);
  }
}

/** Sends a signal to the processes whose working directory is in the folder, also to those that start meanwhile. */
export function signalAll(
  folder: string,
  name: NodeJS.Signals,
  isMeant = (_pid: number): boolean => true,
): void {
  const known = new Set<number>();
  for (;;) {
    const pids = processesIn(folder).filter((pid) => !known.has(pid) && isMeant(pid));
    if (pids.length === 0) return;
    for (const pid of pids) {
      known.add(pid);
      signal(pid, name);
    }
  }
}

function processesIn(folder: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => `${workingDirectoryOf(pid)}/`.startsWith(`${folder}/`));
}

function workingDirectoryOf(pid: number): string {
  return unlessEnded(() => readlinkSync(`/proc/${pid}/cwd`));
}

/** PostgreSQL replaces the command line of each of its processes with a description. */
export function commandLineOf(pid: number): string {
  return unlessEnded(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
}

/** The information about a process can be read until the process ends. */
function unlessEnded(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
