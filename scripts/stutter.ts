/**
 * Runs a command whose processes run for about a second and then stand still for two, again and again, as on a machine
 * that is too busy. A test that passes only on a fast machine fails here. Usage: `npm run stutter -- npx vitest run FILE`.
 * The exit status is that of the command. Requires Linux.
 *
 * Only the descendants of the command are stopped, detached ones too. A process that somebody else has stopped stays
 * stopped.
 */

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** In milliseconds. How long the processes run varies by half, so that it fits the rhythm of no test. */
const RUN = 1000;
const STAND_STILL = 2000;
const SCAN_INTERVAL = 100;

/** The descendants inherit this environment variable, unless their parent removes it. */
const MARKER = `STUTTER_RUN=${process.pid}-${Date.now()}`;

interface Process {
  readonly pid: number;
  readonly state: string;
  readonly parent: number;
  /** In ticks since the boot: it tells a process from an earlier one with the same id. */
  readonly startedAt: string;
}

/** The ids of the processes of the command, of all other processes, and of those that stand still; with their start times. */
const own = new Map<number, string>();
const others = new Map<number, string>();
const stopped = new Map<number, string>();

function read(pid: number | string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}

function processOf(pid: number): Process | undefined {
  const text = read(pid, 'stat');
  if (text === '') return undefined;
  const [state = '', parent, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return { pid, state, parent: Number(parent), startedAt: fields[17] ?? '' };
}

/** Returns the living processes of the command, parents first. */
function descendants(): Process[] {
  const found = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => processOf(Number(name)))
    .filter((entry) => entry !== undefined)
    .toSorted((a, b) => Number(a.startedAt) - Number(b.startedAt) || a.pid - b.pid);
  const alive = new Map(found.map(({ pid, startedAt }) => [pid, startedAt]));
  for (const [pid, startedAt] of own) if (alive.get(pid) !== startedAt) own.delete(pid);
  for (const { pid, parent, startedAt } of found) {
    if (own.has(pid) || others.get(pid) === startedAt || pid === process.pid) continue;
    const isOwn = own.has(parent) || read(pid, 'environ').split('\0').includes(MARKER);
    (isOwn ? own : others).set(pid, startedAt);
  }
  return found.filter(({ pid }) => own.has(pid));
}

function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited.
  }
}

/** Parents are stopped first, so that a test cannot stop or start a process whose parent stands still. */
function stopAll(): void {
  for (let isNew = true; isNew; ) {
    isNew = false;
    for (const { pid, state, parent, startedAt } of descendants()) {
      if ('TtZX'.includes(state) || stopped.get(pid) === startedAt) continue;
      // `script` stops itself for good when it sees that its child has been stopped.
      if (read(parent, 'comm') === 'script\n') continue;
      signal(pid, 'SIGSTOP');
      stopped.set(pid, startedAt);
      isNew = true;
    }
  }
}

/** Children are continued first, so that no shell takes them for stopped jobs. */
function continueAll(): void {
  for (const [pid, startedAt] of [...stopped].toReversed()) {
    if (processOf(pid)?.startedAt === startedAt) signal(pid, 'SIGCONT');
  }
  stopped.clear();
}

const [command, ...args] = process.argv.slice(2);
if (command === undefined) {
  console.error('Usage: npm run stutter -- COMMAND [ARGUMENT...]');
  process.exit(2);
}
const [name = '', value = ''] = MARKER.split('=');
const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, [name]: value } });
own.set(child.pid as number, processOf(child.pid as number)?.startedAt ?? '');
process.once('exit', continueAll);
for (const ending of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(ending, () => {
    continueAll();
    child.kill(ending);
  });
}
let hasEnded = false;
child.once('close', (code, ending) => {
  hasEnded = true;
  process.exit(code ?? 128 + (ending === null ? 0 : constants.signals[ending]));
});
while (!hasEnded) {
  const until = performance.now() + RUN * (0.5 + Math.random());
  // A process whose parent has exited is found only if it was seen before, or has the marker.
  for (; performance.now() < until; descendants()) await sleep(SCAN_INTERVAL);
  stopAll();
  await sleep(STAND_STILL);
  continueAll();
}
