/** Makes the fsyncs of a server slower. A library is compiled here, and loaded into the server by LD_PRELOAD. */

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { has, workDir } from './processes.ts';

export function canSlowFsync(): boolean {
  return process.platform === 'linux' && has('cc');
}

/** Returns the environment of a server whose fsyncs each take `milliseconds` longer. */
export function slowFsync(milliseconds: number): Record<string, string> {
  const library = join(workDir, 'slow-fsync.so');
  const source = join(import.meta.dirname, 'slow-fsync.c');
  if (!existsSync(library)) {
    execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', library, source]);
    // PostgreSQL can run as another user.
    chmodSync(workDir, 0o711);
  }
  return { LD_PRELOAD: library, SLOW_FSYNC_MS: String(milliseconds) };
}
