/** Helpers for tests of storage faults: faulty disks, and the readiness of a service. */

import { spawnSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Service, temporaryFolder } from './process.ts';

export interface Readiness {
  readonly status: number;
  /** The body of `/readyz`. */
  readonly body: string;
}

export async function readinessOf({ client }: Pick<Service, 'client'>): Promise<Readiness> {
  const { status, body } = await client.request('GET', '/readyz', { key: null });
  return { status, body };
}

export function notReady(reason: string): Readiness {
  return { status: 503, body: JSON.stringify({ status: 'unavailable', reason }) };
}

export const READY: Readiness = { status: 200, body: '{"status":"ok"}' };

/** Resolves when the service has the expected readiness. */
export async function untilReadinessIs(service: Pick<Service, 'client'>, expected: Readiness): Promise<void> {
  await expect.poll(() => readinessOf(service), { interval: 20 }).toEqual(expected);
}

/** Returns the log lines about the state of the storage, oldest first. */
export function stateLines({ out }: Pick<Service, 'out'>): { level: number; reason?: string; msg: string }[] {
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
type DiskFault = 'none' | 'fsync' | 'hang' | 'write' | 'read';

/** Returns the environment variables that preload the faulty disk into a server, and a function that sets its fault. */
export function faultyDisk(): { env: Readonly<Record<string, string>>; set: (fault: DiskFault) => void } {
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
