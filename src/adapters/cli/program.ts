/** Runs one command, and turns the errors of commander and of the command into messages and an exit status. */

import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { defineBackup } from './commands/backup.ts';
import { defineChanges } from './commands/changes.ts';
import { defineCompletion } from './commands/completion.ts';
import { defineDoctor } from './commands/doctor.ts';
import { defineExport } from './commands/export.ts';
import { defineImport } from './commands/import.ts';
import { defineKeys } from './commands/keys.ts';
import { definePets } from './commands/pets.ts';
import { defineRestore } from './commands/restore.ts';
import { defineServe } from './commands/serve.ts';
import {
  CommandError,
  DONE,
  exitStatusOf,
  explain,
  isBrokenPipe,
  isInterruption,
  UsageError,
  WRONG_USAGE,
} from './errors.ts';
import type { CliOptions, CommandOptions } from './options.ts';

/** The text about the outcome of an interrupted command, by the name of the command. */
const INTERRUPTED: Readonly<Record<string, string>> = {
  backup: 'nothing was backed up',
  export: 'the export is not complete',
  import: 'nothing was imported',
  restore: 'nothing was restored',
};

/** Runs one command. Resolves with the exit status: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<number> {
  const { console, signal } = options;
  const shown: string[] = [];
  // The help command of commander would show the help of the first word only.
  const words = args[0] === 'help' ? [...args.slice(1), '--help'] : args;
  const program = createProgram(options, words, (text) => shown.push(text));
  try {
    if (args.some((arg) => arg.includes('\ufffd')))
      throw new UsageError(
        'an argument has the character U+FFFD, which Node.js puts in place of invalid UTF-8',
      );
    await program.parseAsync(words, { from: 'user' }).catch(async (error: unknown) => {
      if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
      await console.out(shown.join(''));
    });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return WRONG_USAGE;
    if (isBrokenPipe(error)) return DONE;
    const outcome = INTERRUPTED[program.args[0] ?? ''] ?? 'the output is not complete';
    const shownError = isInterruption(error, signal) ? new CommandError(`interrupted; ${outcome}`) : error;
    console.err(`${explain(shownError)}\n`);
    return exitStatusOf(error);
  } finally {
    console.progress();
  }
}

/** Returns the program for commander, with all commands and options. */
export function createProgram(
  cliOptions: CliOptions,
  args: readonly string[] = [],
  writeOut: (text: string) => void = () => {},
): Command {
  const program = new Command('animal-store');
  const options: CommandOptions = {
    ...cliOptions,
    get databaseUrl() {
      return program.opts<Pick<CommandOptions, 'databaseUrl'>>().databaseUrl;
    },
  };
  const store = options.settings.find(({ name }) => name === 'DATABASE_URL')?.fallback;
  program
    .description('A pet store with an HTTP API.')
    .version(options.version, '-v, --version', 'print the version')
    .option('--database-url <url>', `${options.databaseUrls.join(', ')} (default: DATABASE_URL, or ${store})`)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut, writeErr: options.console.err, outputError: () => {} })
    .addHelpText('after', '\nExit status: 0 done, 1 failed, 2 wrong usage. docs/ has examples.');

  program.commandsGroup('Server:');
  defineServe(program, options);
  defineDoctor(program, options);
  program
    .command('openapi')
    .description('print the OpenAPI document that a server with the same settings serves')
    .action(async () => options.console.out(`${await options.openApiDocument()}\n`));
  program.commandsGroup('Pets and keys:');
  definePets(program, options);
  defineKeys(program, options);
  program.commandsGroup('Data:');
  defineImport(program, options);
  defineExport(program, options);
  defineChanges(program, options);
  defineBackup(program, options);
  defineRestore(program, options);
  program.commandsGroup('Other:');
  defineCompletion(program, options);
  program.helpCommand('help [command]', 'show the help of a command');
  finish(program, program.name(), args);
  return program;
}

/** Changes, for a command and its subcommands, the behavior that no setting of commander can change. */
function finish(command: Command, path: string, args: readonly string[]): void {
  command.exitOverride((error) => {
    // If a subcommand does not exist, commander would otherwise show the help of `command`, or the version.
    const isVersion = error.code === 'commander.version';
    const child = (isVersion ? args.slice(0, 1) : command.args).find(
      (arg) => arg !== 'help' && !arg.startsWith('-'),
    );
    const isHelp = error.exitCode === 0 || error.code === 'commander.help';
    const isParent = command.commands.length > 0;
    if (isHelp && isParent && child !== undefined && !command.commands.some((each) => each.name() === child))
      throw new UsageError(`unknown command '${child}' (see ${path} --help)`);
    // If a required option is misspelt, commander would otherwise report only that it is missing.
    const unknown = command.args.find((arg) => arg.startsWith('--'));
    if (error.code === 'commander.missingMandatoryOptionValue' && unknown)
      Object(command).unknownOption(unknown);
    // commander has already written the help or the version.
    if (isHelp) throw error;
    const fault = error.message
      .replace(/^error: |\.$/g, '')
      .replace(/\n(\(Did you mean .*\))$/, ' $1')
      .replace(
        /^command-argument value (.*) is invalid for argument '(.*?)'/s,
        'argument <$2> $1 is invalid',
      );
    throw new UsageError(`${fault} (see ${path} --help)`);
  });
  for (const option of command.options.filter(({ required }) => required)) {
    const { parseArg } = option;
    if (option.mandatory) option.description += ' (required)';
    // Without this, `--name --expires=90d` would create a key with the name `--expires=90d`.
    option.argParser((value, previous) => {
      const { long } = option;
      if (/^-(?!\d)/.test(value) && args.some((arg, index) => arg === value && args[index - 1] === long))
        throw new InvalidArgumentError(`expected a value; one that begins with - is given as ${long}=VALUE`);
      return parseArg === undefined ? value : parseArg(value, previous);
    });
  }
  for (const child of command.commands) finish(child, `${path} ${child.name()}`, args);
}
