/** Runs one command. */

import { Command, CommanderError } from 'commander';
import { addCommands } from './commands.ts';
import type { Console } from './console.ts';
import { DONE, exitStatusOf, explain, isBrokenPipe, UsageError, WRONG_USAGE } from './errors.ts';
import { FIRST_STEPS, HELP } from './help.ts';
import { addKeyCommands } from './key-commands.ts';
import type { CliOptions } from './options.ts';
import { withoutOutputToStore } from './store-files.ts';

/** Matches the suggestion in the second line of an error message of commander. */
const SUGGESTION = /\n(\(Did you mean .*\)\s*)$/;

/** Runs one command. Resolves with the exit status: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<number> {
  const { console } = options;
  if (args.length === 0) {
    console.err(FIRST_STEPS);
    return WRONG_USAGE;
  }
  const help: string[] = [];
  const program = createProgram(withoutOutputToStore(options), (text) => help.push(text));
  let current = program;
  program.hook('preAction', (_, command) => {
    current = command;
  });
  try {
    await program.parseAsync(args, { from: 'user' }).catch(async (error: unknown) => {
      if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
      await console.out(help.join(''));
    });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return WRONG_USAGE;
    if (isBrokenPipe(error)) return DONE;
    console.err(`${explain(error, pathOf(current))}\n`);
    return exitStatusOf(error);
  }
}

/** @param onHelp called with each part of the help text or the version text that the user requested */
function createProgram(options: CliOptions, onHelp: (text: string) => void): Command {
  const program = new Command('animal-store')
    .description('A pet store with an HTTP API.')
    .version(options.version, '-v, --version', 'print the version')
    .option('--database-url <url>', 'the database of the store, such as sqlite:PATH', notEmpty)
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('after', HELP.program);
  const databaseUrl = (): string | undefined => program.opts<{ databaseUrl?: string }>().databaseUrl;
  addKeyCommands(program, databaseUrl, options);
  addCommands(program, databaseUrl, options);
  configureOutput(program, options.console, onHelp);
  return program;
}

/**
 * Throws if the URL is empty, which usually means that a shell variable is not set. The user would not expect that the
 * command uses the default store instead.
 */
function notEmpty(url: string): string {
  if (url === '') throw new UsageError("--database-url: expected a URL such as sqlite:PATH, got ''");
  return url;
}

/** Returns the name of a command with the names of its parents, such as `animal-store keys create`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Configures the output of a command and of the commands below it. */
function configureOutput(command: Command, console: Console, onHelp: (text: string) => void): void {
  const { err, outScreen, errScreen } = console;
  command.configureOutput({
    writeOut: onHelp,
    writeErr: err,
    getOutHelpWidth: () => outScreen.columns ?? 80,
    getErrHelpWidth: () => errScreen.columns ?? 80,
    getOutHasColors: () => outScreen.hasColours,
    getErrHasColors: () => errScreen.hasColours,
    outputError: (text, write) => {
      const message = text.replace(/^error: /, '').replace(SUGGESTION, ' $1');
      write(`${explain(new UsageError(message.trim()), pathOf(command))}\n`);
    },
  });
  for (const child of command.commands) configureOutput(child, console, onHelp);
}
