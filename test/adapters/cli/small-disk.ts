import { spawnSync } from 'node:child_process';
import { onTestFinished } from 'vitest';

/** Mounts a file system of a given size on a folder until the test is over; whether this user may do so. */
export function mountSmallDisk(folder: string, size: string): boolean {
  if (spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder]).status !== 0) return false;
  onTestFinished(() => {
    spawnSync('umount', ['--lazy', folder]);
  });
  return true;
}
