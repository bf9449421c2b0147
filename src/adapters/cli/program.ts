import { Command, CommanderError } from 'commander';
import { defineCommands } from './commands/index.ts';
import { DONE, exitStatusOf, explain, isBrokenPipe, UsageError, WRONG_USAGE } from './errors.ts';
import type { CliOptions } from './options.ts';
import { candidateLines, pathOf, positionAfter } from './words.ts';

const SUGGESTION = /\n(\(Did you mean .*\))$/;

/** Runs one command. Resolves with the exit status: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<number> {
  const { console } = options;
  const program = new Command('animal-store');
  const report = (error: unknown): void =>
    console.err(`${explain(error, pathOf(positionAfter(program, args).command))}\n`);
  const help: string[] = [];
  // The commands inherit these settings, so they are made before the commands are defined.
  program.exitOverride().configureOutput({
    writeOut: (text) => help.push(text),
    writeErr: console.err,
    outputError(text) {
      const message = text.replace(/^error: |\.?\n$/g, '').replace(SUGGESTION, ' $1');
      report(new UsageError(message));
    },
  });
  defineCommands(program, options);
  const [name, separator, ...words] = args;
  if (name === 'complete' && separator === '--') {
    // A shell asks for completions while the user types, so a failure prints nothing.
    const lines = candidateLines(program, words).map((line) => `${line}\n`);
    await console.outRaw(lines.join('')).catch(() => {});
    return DONE;
  }
  try {
    await program.parseAsync(args, { from: 'user' }).catch(async (error: unknown) => {
      if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
      await console.out(help.join(''));
    });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return WRONG_USAGE;
    if (isBrokenPipe(error)) return DONE;
    report(error);
    return exitStatusOf(error);
  }
}
