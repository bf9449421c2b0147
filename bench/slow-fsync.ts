/** Makes a server's fsync slower by a library that is compiled on the spot and loaded before all others. */

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { has, workDir } from './processes.ts';

export function canSlowFsync(): boolean {
  return process.platform === 'linux' && has('cc');
}

/** The environment of a server whose every fsync takes that many milliseconds longer. */
export function slowFsync(milliseconds: number): Record<string, string> {
  const library = join(workDir, 'slow-fsync.so');
  const source = join(import.meta.dirname, 'slow-fsync.c');
  if (!existsSync(library)) execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source]);
  return { LD_PRELOAD: library, SLOW_FSYNC_MS: String(milliseconds) };
}
