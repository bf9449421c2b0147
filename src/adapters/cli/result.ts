import type { Console } from './console.ts';
import { CommandError, OutputError } from './errors.ts';

/**
 * Prints the result of a completed command. If standard output cannot be written, throws an error. The message of the
 * error contains `done`, except after a broken pipe.
 * @param done what the command has done, such as `imported 2 pets`
 */
export async function printResult(console: Console, text: string, done: string): Promise<void> {
  try {
    await console.out(text);
  } catch (error) {
    if (!(error instanceof OutputError) || error.isBrokenPipe) throw error;
    throw new CommandError(`${done}, but ${error.message}`);
  }
}
