import type { Console } from './console.ts';
import { CommandError, OutputError } from './errors.ts';

/**
 * Prints the result of a completed command. If standard output cannot be written, the error message contains `done`.
 * @param done what was done, as a sentence without the full stop
 */
export async function printResult(console: Console, text: string, done: string): Promise<void> {
  try {
    await console.out(text);
  } catch (error) {
    if (!(error instanceof OutputError) || error.isBrokenPipe) throw error;
    throw new CommandError(`${done}, but ${error.message}`);
  }
}
