import fs from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished, vi } from 'vitest';

type Name = 'accessSync' | 'fsyncSync' | 'linkSync' | 'mkdirSync' | 'readdirSync' | 'statSync';

/** Replaces a function of `node:fs` until the end of the test. Returns the original function. */
export function replaceFs<Key extends Name>(name: Key, replacement: (typeof fs)[Key]): (typeof fs)[Key] {
  const original = fs[name];
  const set = (value: (typeof fs)[Key]): void => {
    fs[name] = value;
    syncBuiltinESMExports();
  };
  set(replacement);
  onTestFinished(() => set(original));
  return original;
}

/** Calls `onSync` with the descriptor of each file before its fsync, until the end of the test. */
export async function watchSyncs(onSync: (descriptor: number) => void): Promise<void> {
  const handle = await open('.');
  const sync = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'sync');
  await handle.close();
  onTestFinished(() => sync.mockRestore());
  sync.mockImplementation(function (this: FileHandle) {
    onSync(this.fd);
    return this.datasync();
  });
}

/** An error of the operating system. */
export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
