import { constants, fstatSync, openSync } from 'node:fs';

const STANDARD_ERROR = 2;
const FLAGS = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Returns a file descriptor of standard error on which no write blocks.
 *
 * Non-blocking mode belongs to the open file description, which other processes may share. These processes could reset
 * the mode, or fail because they do not expect `EAGAIN`. For this reason, a pipe, a terminal or another character
 * device is opened again in non-blocking mode, which Linux allows. A socket cannot be opened again, but Node.js makes
 * sockets and pipes non-blocking when `process.stderr` is first accessed. A regular file must not be opened again,
 * because standard output may share the file and its position with standard error.
 */
export function openStandardError(): { readonly descriptor: number; readonly isTerminal: boolean } {
  const isTerminal = process.stderr.isTTY === true;
  const stats = fstatSync(STANDARD_ERROR);
  if (!stats.isFIFO() && !stats.isCharacterDevice()) return { descriptor: STANDARD_ERROR, isTerminal };
  try {
    return { descriptor: openSync(`/proc/self/fd/${STANDARD_ERROR}`, FLAGS), isTerminal };
  } catch {
    return { descriptor: STANDARD_ERROR, isTerminal };
  }
}
