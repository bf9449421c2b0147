/** Helpers for tests of storage faults: small file systems, faulty disks, and the readiness of a service. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { type Service, temporaryFolder } from './process.ts';

/** Whether this user is allowed to mount a file system. */
export const canMount: boolean = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  const isMounted = mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder);
  if (isMounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true });
  return isMounted;
})();

export const mountNote: string = canMount ? '' : ' (skipped: this user may not mount a file system)';

export function mount(...args: string[]): boolean {
  return spawnSync('mount', args).status === 0;
}

export function smallDisk(size: string): string {
  const folder = temporaryFolder();
  expect(mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder)).toBe(true);
  onTestFinished(() => {
    spawnSync('umount', ['--lazy', folder]);
  });
  return folder;
}

export interface Readiness {
  readonly status: number;
  /** The body of `/readyz`. */
  readonly body: string;
}

export async function readinessOf({ client }: Service): Promise<Readiness> {
  const { status, body } = await client.request('GET', '/readyz', { key: null });
  return { status, body };
}

export function notReady(reason: string): Readiness {
  return { status: 503, body: JSON.stringify({ status: 'unavailable', reason }) };
}

export const READY: Readiness = { status: 200, body: '{"status":"ok"}' };

/** Resolves when the service has the expected readiness, with the time that passed in milliseconds. */
export async function untilReadinessIs(
  service: Service,
  expected: Readiness,
  within = 5000,
): Promise<number> {
  const start = performance.now();
  for (;;) {
    const readiness = await readinessOf(service);
    const passed = performance.now() - start;
    if (readiness.body === expected.body) return passed;
    if (passed > within) expect(readiness).toEqual(expected);
    await delay(20);
  }
}

/** Returns the log lines about the state of the storage, oldest first. */
export function stateLines({ out }: Service): { level: number; reason?: string; msg: string }[] {
  return out.stderr
    .split('\n')
    .filter((line) => /"msg":"the storage/.test(line))
    .map((line) => JSON.parse(line));
}

/** Whether `faulty-disk.c` can be compiled and preloaded. Requires Linux and a C compiler. */
export const canFaultDisk: boolean =
  process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;

export const faultyDiskNote: string = canFaultDisk ? '' : ' (skipped: there is no C compiler, cc)';

/** The faults that `faulty-disk.c` supports. */
export type DiskFault = 'none' | 'fsync' | 'slow' | 'hang' | 'write' | 'read';

export interface FaultyDisk {
  /** The environment variables that preload the faulty disk into a server. */
  readonly env: Readonly<Record<string, string>>;
  set(fault: DiskFault): void;
}

export function faultyDisk(): FaultyDisk {
  const folder = temporaryFolder();
  const library = compile('faulty-disk.c', folder);
  const word = join(folder, 'fault');
  const set = (fault: DiskFault): void => {
    writeFileSync(`${word}.new`, fault);
    renameSync(`${word}.new`, word);
  };
  set('none');
  return { env: { LD_PRELOAD: library, FAULTY_DISK: word }, set };
}

export interface FaultyClock {
  /** The environment variables that preload the faulty clock into a server. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock of the server to this number of milliseconds after the time of the machine. */
  setAhead(milliseconds: number): void;
}

export function faultyClock(): FaultyClock {
  const folder = temporaryFolder();
  const library = compile('faulty-clock.c', folder);
  const file = join(folder, 'ahead');
  writeFileSync(file, new BigInt64Array(1));
  const setAhead = (milliseconds: number): void => {
    // The server has mapped the file into its memory, so the file must not be truncated.
    writeFileSync(file, new BigInt64Array([BigInt(milliseconds) * 1_000_000n]), { flag: 'r+' });
  };
  return { env: { LD_PRELOAD: library, FAULTY_CLOCK: file }, setAhead };
}

/** Compiles a source file in this folder to a library that can be preloaded. Returns the path of the library. */
function compile(name: string, folder: string): string {
  const library = join(folder, `${name}.so`);
  const source = join(import.meta.dirname, name);
  const { status, stderr } = spawnSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source]);
  if (status !== 0) throw new Error(`cc: ${stderr}`);
  return library;
}
