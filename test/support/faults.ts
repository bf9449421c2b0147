/** What the tests of storage faults share: file systems of their own, and what a service says of its readiness. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { type Service, temporaryFolder } from './process.ts';

/** A small file system of its own needs the right to mount one. */
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

/** Waits until the readiness is this one, and tells how many milliseconds that took. */
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

/** The lines of the log about the state of the storage, oldest first. */
export function stateLines({ out }: Service): { level: number; reason?: string; msg: string }[] {
  return out.stderr
    .split('\n')
    .filter((line) => /"msg":"the storage/.test(line))
    .map((line) => JSON.parse(line));
}

/** Faults of single calls need a library that is compiled on the spot; everything else works without a compiler. */
export const canFaultDisk: boolean =
  process.platform === 'linux' && spawnSync('cc', ['--version']).status === 0;

export const faultyDiskNote: string = canFaultDisk ? '' : ' (skipped: there is no C compiler, cc)';

/** The words of `faulty-disk.c`. */
export type DiskFault = 'none' | 'fsync' | 'hang' | 'write' | 'read';

export interface FaultyDisk {
  /** What a server needs to be faulty. */
  readonly env: Readonly<Record<string, string>>;
  set(fault: DiskFault): void;
}

export function faultyDisk(): FaultyDisk {
  const folder = temporaryFolder();
  const library = join(folder, 'faulty-disk.so');
  const source = join(import.meta.dirname, 'faulty-disk.c');
  const { status, stderr } = spawnSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source]);
  if (status !== 0) throw new Error(`cc: ${stderr}`);
  const word = join(folder, 'fault');
  const set = (fault: DiskFault): void => {
    writeFileSync(`${word}.new`, fault);
    renameSync(`${word}.new`, word);
  };
  set('none');
  return { env: { LD_PRELOAD: library, FAULTY_DISK: word }, set };
}
