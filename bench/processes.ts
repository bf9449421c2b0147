/** Starts each process of a run on its core, measures the process, and ends it by its id, even if the run is interrupted. */

import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TICKS_PER_SECOND = 100;
const STOP_TIMEOUT = 60_000;

const running = new Set<ChildProcess>();

/** The temporary folder of a run. The folder is removed when the run ends. */
export const workDir: string = mkdtempSync(join(tmpdir(), 'animal-store-bench-'));

/** One core runs the servers. Another core runs the load and this process. */
const [serverCore, loadCore] = allowedCores();

/** Whether the servers and the load run on two separate cores. */
export const isPinned: boolean = loadCore !== undefined && has('taskset');

export function has(command: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${command}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(workDir, { recursive: true, force: true, maxRetries: 5 });
});

/** Moves this process to the core of the load. A signal makes this process exit, and run its exit handlers. */
export function prepareProcess(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(130));
  if (isPinned) {
    execFileSync('taskset', ['-acp', String(loadCore), String(process.pid)], { stdio: 'ignore' });
  }
}

/** The core on which a process runs: that of the servers, or that of the load. */
type Role = 'server' | 'load';

export function launch(role: Role, command: readonly string[], options: SpawnOptions): ChildProcess {
  const cores = { server: serverCore, load: loadCore };
  const [program = '', ...args] = isPinned ? ['taskset', '-c', String(cores[role]), ...command] : command;
  const child = spawn(program, args, options);
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

/** Runs a program until it exits. Resolves with the output of the program, and the share of one core that the program used. */
export async function runToEnd(
  command: readonly string[],
  { role = 'load', interruptAfter }: { role?: Role; interruptAfter?: number | undefined } = {},
): Promise<{ output: string; share: number | undefined }> {
  const child = launch(role, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const meter = new CpuMeter(child.pid ?? 0);
  const sampling = setInterval(() => meter.sample(), 50);
  const interrupt = setTimeout(() => child.kill('SIGINT'), interruptAfter ?? 2 ** 31 - 1);
  try {
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`${command[0]} ended with ${code}`);
  } finally {
    clearInterval(sampling);
    clearTimeout(interrupt);
  }
  return { output, share: meter.share() };
}

/** Sends SIGTERM to a process, and SIGKILL if the process does not exit in time. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const killing = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
  await ended;
  clearTimeout(killing);
}

/**
 * Measures the share of one core that a process and its children use between the first and the last sample. The share is known only
 * on Linux.
 */
export class CpuMeter {
  readonly #pid: number;
  #first: readonly [at: number, used: number] | undefined;
  #last: readonly [at: number, used: number] | undefined;

  constructor(pid: number) {
    this.#pid = pid;
    this.sample();
  }

  sample(): void {
    const used = cpuSeconds(this.#pid);
    if (used === undefined) return;
    this.#last = [performance.now() / 1000, used];
    this.#first ??= this.#last;
  }

  share(): number | undefined {
    if (this.#first === undefined || this.#last === undefined) return undefined;
    const wall = this.#last[0] - this.#first[0];
    return wall > 0 ? (this.#last[1] - this.#first[1]) / wall : undefined;
  }
}

function cpuSeconds(pid: number): number | undefined {
  const fields = readProc(pid, 'stat')?.split(') ').at(-1)?.split(' ');
  if (fields === undefined) return undefined;
  const own = (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
  return childrenOf(pid).reduce((sum, child) => sum + (cpuSeconds(child) ?? 0), own);
}

/** Returns the resident memory of a process and its children in MB, or `undefined` on systems other than Linux. */
export function residentMemory(pid: number): number | undefined {
  const kilobytes = /VmRSS:\s*(\d+)/.exec(readProc(pid, 'status') ?? '')?.[1];
  if (kilobytes === undefined) return undefined;
  return childrenOf(pid).reduce((sum, child) => sum + (residentMemory(child) ?? 0), Number(kilobytes) / 1024);
}

function childrenOf(pid: number): number[] {
  return (readProc(pid, `task/${pid}/children`) ?? '')
    .split(' ')
    .map(Number)
    .filter((child) => child > 0);
}

/** Returns the cores that this process may use. Linux lists the cores as `0-3,8`. */
function allowedCores(): number[] {
  const list = /Cpus_allowed_list:\s*(\S+)/.exec(readProc('self', 'status') ?? '')?.[1] ?? '';
  return list.split(',').flatMap((range) => {
    const [first = Number.NaN, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 || 0 }, (_, index) => first + index);
  });
}

function readProc(pid: number | 'self', file: string): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return undefined;
  }
}
