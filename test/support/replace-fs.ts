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

/** Until the end of the test, opening `path` fails as for a folder without read permission. */
export function refuseToOpen(path: string): void {
  const original = fs.promises.open;
  const opening = vi.spyOn(fs.promises, 'open');
  opening.mockImplementation((file, ...rest) =>
    file === path ? Promise.reject(systemError('EACCES')) : original(file, ...rest),
  );
  syncBuiltinESMExports();
  onTestFinished(() => {
    opening.mockRestore();
    syncBuiltinESMExports();
  });
}

/** Calls `onSync` with the descriptor of each file, and waits for it, before the fsync of the file, until the end of the test. */
export async function watchSyncs(onSync: (descriptor: number) => unknown): Promise<void> {
  const handle = await open('.');
  const sync = vi.spyOn(Object.getPrototypeOf(handle) as FileHandle, 'sync');
  await handle.close();
  onTestFinished(() => sync.mockRestore());
  sync.mockImplementation(async function (this: FileHandle) {
    await onSync(this.fd);
    await this.datasync();
  });
}

/** An error of the operating system. */
export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
