import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

type Name = 'accessSync' | 'fsyncSync' | 'linkSync' | 'mkdirSync' | 'statSync';

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

/** An error of the operating system. */
export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
