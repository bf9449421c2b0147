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

/** Compiles a source file in this folder to a library that can be preloaded. Returns the path of the library. */
function compile(name: string, folder: string): string {
  const library = join(folder, `${name}.so`);
  const source = join(import.meta.dirname, name);
  const { status, stderr } = spawnSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source]);
  if (status !== 0) throw new Error(`cc: ${stderr}`);
  return library;
}
