/** Runs one command, and turns what commander and the command throw into messages and an exit status. */

import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { defineBackup } from './commands/backup.ts';
import { defineCompletion } from './commands/completion.ts';
import { defineDoctor } from './commands/doctor.ts';
import { defineExport } from './commands/export.ts';
import { defineImport } from './commands/import.ts';
import { defineKeys } from './commands/keys.ts';
import { definePets } from './commands/pets.ts';
import { defineRestore } from './commands/restore.ts';
import { defineServe } from './commands/serve.ts';
import { DONE, exitStatusOf, explain, isBrokenPipe, UsageError, WRONG_USAGE } from './errors.ts';
import type { CliOptions, CommandOptions } from './options.ts';

/** Runs one command. Resolves with the exit status: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<number> {
  const { console } = options;
  const shown: string[] = [];
  try {
    const program = createProgram(options, (text) => shown.push(text));
    await program.parseAsync(args, { from: 'user' }).catch(async (error: unknown) => {
      if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
      await console.out(shown.join(''));
    });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return WRONG_USAGE;
    if (isBrokenPipe(error)) return DONE;
    console.err(`${explain(error)}\n`);
    return exitStatusOf(error);
  }
}

/** Returns the description of the whole command line. */
export function createProgram(cliOptions: CliOptions, writeOut: (text: string) => void = () => {}): Command {
  const program = new Command('animal-store');
  const options: CommandOptions = {
    ...cliOptions,
    get databaseUrl() {
      return program.opts<Pick<CommandOptions, 'databaseUrl'>>().databaseUrl;
    },
  };
  program
    .description('A pet store with an HTTP API.')
    .version(options.version, '-v, --version', 'print the version')
    .option('--database-url <url>', 'the database of the store, such as sqlite:PATH (default: DATABASE_URL)')
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
  defineBackup(program, options);
  defineRestore(program, options);
  program.commandsGroup('Other:');
  defineCompletion(program, options);
  program.helpCommand('help [command]', 'show the help of a command');
  finish(program, program.name());
  return program;
}

/** Applies to each command what commander has no setting for. */
function finish(command: Command, path: string): void {
  command.exitOverride((error) => {
    // commander has shown the help or the version.
    if (error.exitCode === 0 || error.code === 'commander.help') throw error;
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
    // Without this, `--name --expires=90d` would create a key with the name `--expires=90d`.
    option.argParser((value, previous) => {
      if (/^-(?!\d)/.test(value))
        throw new InvalidArgumentError('expected a value that does not begin with -');
      return parseArg === undefined ? value : parseArg(value, previous);
    });
  }
  for (const child of command.commands) finish(child, `${path} ${child.name()}`);
}
