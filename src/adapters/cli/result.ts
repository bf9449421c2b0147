import type { Console } from './console.ts';
import { CommandError, OutputError } from './errors.ts';

/**
 * Prints the result of what is done by then, so that the user learns that it is done when it cannot be printed.
 * @param done what is done, as a sentence without its end
 */
export async function printResult(console: Console, text: string, done: string): Promise<void> {
  try {
    await console.out(text);
  } catch (error) {
    if (!(error instanceof OutputError) || error.isBrokenPipe) throw error;
    throw new CommandError(`${done}, but ${error.message}`);
  }
}
