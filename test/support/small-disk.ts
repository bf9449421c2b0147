/** A small file system that a test can fill. */

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { temporaryFolder } from './process.ts';

/** Whether this user is allowed to mount a file system. */
export const canMount: boolean = (() => {
  const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
  const isMounted = mount('-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', folder);
  if (isMounted) spawnSync('umount', [folder]);
  rmSync(folder, { recursive: true });
  return isMounted;
})();

/** A folder on a file system of the given size, such as `1m`. */
export class SmallDisk {
  readonly folder: string = temporaryFolder();

  constructor(size: string) {
    expect(mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', this.folder)).toBe(true);
    onTestFinished(() => {
      spawnSync('umount', ['--lazy', this.folder]);
    });
  }

  resize(size: string): void {
    expect(mount('-o', `remount,size=${size}`, this.folder)).toBe(true);
  }
}

function mount(...args: readonly string[]): boolean {
  return spawnSync('mount', args).status === 0;
}
