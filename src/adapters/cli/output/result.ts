import { CommandError, isBrokenPipe, OutputError } from '../errors.ts';
import type { Console } from './console.ts';
import { visible } from './visible.ts';

interface Result {
  /** The start of a sentence, such as `imported 2 pets`. */
  readonly done: string;
  /** The end of the sentence, such as ` in 3.9 s`. */
  readonly details?: string;
  readonly members: object;
}

/** Prints the result of a completed command. If it cannot be written, the error says what was done nevertheless. */
export async function printResult(
  console: Console,
  { done, details = '', members }: Result,
  json = false,
): Promise<void> {
  const sentence = visible(`${done.charAt(0).toUpperCase()}${done.slice(1)}${details}.`);
  try {
    await console.out(`${json ? JSON.stringify(members) : sentence}\n`);
  } catch (error) {
    if (!(error instanceof OutputError) || isBrokenPipe(error)) throw error;
    throw new CommandError(`${done}, but ${error.message}`);
  }
}
