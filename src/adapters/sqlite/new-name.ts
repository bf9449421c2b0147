import { closeSync, linkSync, openSync, renameSync } from 'node:fs';

/**
 * Moves a file to a path without replacing an existing file. Creates a hard link, which fails when a file exists at this
 * path. On a file system without hard links, creates an empty file instead, which fails in the same case, and then
 * replaces the empty file. With a hard link, the file also keeps its old path.
 * @param exists returns the error that is thrown when a file already exists at the path
 */
export function moveToNewName(from: string, to: string, exists: () => Error): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw exists();
    try {
      closeSync(openSync(to, 'wx'));
    } catch (failure) {
      throw codeOf(failure) === 'EEXIST' ? exists() : failure;
    }
    renameSync(from, to);
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
