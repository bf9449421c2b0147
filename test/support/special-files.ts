/** Creates files that are not regular files, in a folder of the test. */

import { execFileSync } from 'node:child_process';
import { lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** The minor number of a character device that behaves like /dev/null. */
const NULL_DEVICE = '3';

/**
 * Creates a file of each kind that this user is allowed to create, a symbolic link to each of these files, and a
 * dangling symbolic link.
 */
export async function makeSpecialFiles(folder: string): Promise<string[]> {
  const paths = [join(folder, 'directory'), join(folder, 'fifo'), join(folder, 'socket')];
  mkdirSync(join(folder, 'directory'));
  execFileSync('mknod', [join(folder, 'fifo'), 'p']);
  await makeSocket(join(folder, 'socket'));
  if (makeDevice(join(folder, 'device'), NULL_DEVICE)) paths.push(join(folder, 'device'));
  const links = paths.map((path) => `${path}-link`);
  for (const [index, path] of paths.entries()) symlinkSync(path, links[index] as string);
  symlinkSync(join(folder, 'nothing'), join(folder, 'dangling-link'));
  return [...paths, ...links, join(folder, 'dangling-link')];
}

/** Returns a text with the properties of a file that must not change. */
export function identityOf(path: string): string {
  const { dev, ino, mode, rdev } = lstatSync(path, { bigint: true });
  return [dev, ino, mode, rdev].join();
}

function makeDevice(path: string, minor: string): boolean {
  try {
    execFileSync('mknod', [path, 'c', '1', minor], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function makeSocket(path: string): Promise<void> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => {
    server.close();
  });
}
