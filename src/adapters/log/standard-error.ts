import { constants, fstatSync, openSync } from 'node:fs';

const STANDARD_ERROR = 2;
const FLAGS = constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * A descriptor of standard error on which no write blocks.
 *
 * Whether writes block belongs to the open file, which other processes may share: they could block it again, or fail
 * where they do not expect it. So a pipe, a terminal or another device is opened once more, which Linux allows. A
 * socket cannot be opened so; Node.js makes sockets and pipes non-blocking when `process.stderr` is first read. A
 * regular file must not be opened again, because its position is shared with standard output.
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
