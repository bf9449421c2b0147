/** Starts each process of a run on its core, measures it, and ends it by its id, even if the run is interrupted. */

import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const TICKS_PER_SECOND = 100;
const STOP_TIMEOUT = 60_000;

const running = new Set<ChildProcess>();

/** The temporary folder of a run. It is removed when the run ends. */
export const workDir: string = mkdtempSync(join(tmpdir(), 'animal-store-bench-'));

/** One core runs the servers, another one the load and this process. */
const [serverCore, loadCore] = allowedCores();

/** Whether servers and load each have a core of their own. */
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

/** Moves this process to the core of the load. A signal makes it exit with its exit handlers. */
export function prepareProcess(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => process.exit(130));
  if (isPinned) {
    execFileSync('taskset', ['-acp', String(loadCore), String(process.pid)], { stdio: 'ignore' });
  }
}

export function launch(
  role: 'server' | 'load',
  command: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const core = role === 'server' ? serverCore : loadCore;
  const [program = '', ...args] = isPinned ? ['taskset', '-c', String(core), ...command] : command;
  const child = spawn(program, args, options);
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

/** Runs a program to its end. Resolves with its output and the share of one core that it used. */
export async function runToEnd(
  command: readonly string[],
  interruptAfter?: number,
): Promise<{ output: string; share: number | undefined }> {
  const child = launch('load', command, { stdio: ['ignore', 'pipe', 'inherit'] });
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

/** Sends SIGTERM to a process, and SIGKILL if it does not exit. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const killing = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT);
  await ended;
  clearTimeout(killing);
}

/** The share of one core that a process uses between the first sample and the last. Linux only, elsewhere unknown. */
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
  return fields && (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Resident memory in MB; `undefined` on systems other than Linux. */
export function residentMemory(pid: number): number | undefined {
  const kilobytes = /VmRSS:\s*(\d+)/.exec(readProc(pid, 'status') ?? '')?.[1];
  return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
}

/** The cores that this process may use. Linux lists them as `0-3,8`. */
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
