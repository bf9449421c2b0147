/** Makes the disk of a server slower. A library is compiled here, and loaded into the server by LD_PRELOAD. */

import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { has, workDir } from './processes.ts';

export function canSlowDisk(): boolean {
  return process.platform === 'linux' && has('cc');
}

/** Returns the environment of a server whose fsyncs each take `milliseconds` longer. */
export function slowFsync(milliseconds: number): Record<string, string> {
  return { LD_PRELOAD: library(), SLOW_FSYNC_MS: String(milliseconds) };
}

/** Returns the environment of a server that takes `milliseconds` longer to read each page of `page` bytes. */
export function slowReads(milliseconds: number, page: number): Record<string, string> {
  return { LD_PRELOAD: library(), SLOW_READ_MS: String(milliseconds), SLOW_READ_PAGE: String(page) };
}

function library(): string {
  const path = join(workDir, 'slow-disk.so');
  const source = join(import.meta.dirname, 'slow-disk.c');
  if (!existsSync(path)) {
    execFileSync('cc', ['-O2', '-shared', '-fPIC', '-o', path, source]);
    // PostgreSQL can run as another user, who must be able to open the library in this folder.
    chmodSync(workDir, 0o711);
  }
  return path;
}
