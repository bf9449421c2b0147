/** Defines the commands and runs one of them. */

import { Command, CommanderError } from 'commander';
import { type BackupFlags, backup } from './backup.ts';
import type { Console } from './console.ts';
import { DONE, exitStatusOf, explain, isBrokenPipe, UsageError, WRONG_USAGE } from './errors.ts';
import { exportPets } from './export.ts';
import { FIRST_STEPS, HELP } from './help.ts';
import { type ImportFlags, importPets } from './import.ts';
import { type CreateFlags, type JsonFlag, KeyCommands, type RotateFlags } from './keys.ts';
import { openapi } from './openapi.ts';
import type { CliOptions } from './options.ts';
import { serve } from './serve.ts';
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
  try {
    await program.parseAsync(args, { from: 'user' }).catch(async (error: unknown) => {
      if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
      await console.out(help.join(''));
    });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return WRONG_USAGE;
    if (isBrokenPipe(error)) return DONE;
    console.err(`${explain(error)}\n`);
    return exitStatusOf(error);
  }
}

/** @param onHelp called with each part of the help text or the version text that the user requested */
function createProgram(options: CliOptions, onHelp: (text: string) => void): Command {
  const program = new Command('animal-store')
    .description('A pet store with an HTTP API.')
    .version(options.version)
    .option('--database-url <url>', 'the database of the store, such as sqlite:PATH', notEmpty)
    .helpCommand(false)
    .exitOverride()
    .configureHelp({ showGlobalOptions: true })
    .configureOutput(outputOf(options.console, onHelp))
    .addHelpText('after', HELP.program);
  const databaseUrl = (): string | undefined => program.opts<{ databaseUrl?: string }>().databaseUrl;

  program
    .command('serve')
    .description('serve the API until SIGINT or SIGTERM')
    .addHelpText('after', HELP.serve)
    .action(() => serve(databaseUrl(), options));

  addKeyCommands(program.command('keys').description('create, list, rotate and revoke API keys'), () => {
    return new KeyCommands(options, databaseUrl());
  });

  program
    .command('import')
    .description('import the pets of an NDJSON file, all or none')
    .argument('<file>', 'a file with one pet in JSON per line, or - for standard input')
    .option('--skip-invalid', 'skip invalid lines, and write them to a file')
    .option('--refused <file>', 'the file for invalid lines (default: <file>.refused.ndjson)')
    .option('--new-ids', 'assign new ids, and ignore the ids in the file')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP.import)
    .action((file: string, flags: ImportFlags) => importPets(file, flags, databaseUrl(), options));

  program
    .command('export')
    .description('write all pets to standard output as NDJSON')
    .option('--status <status>', 'only pets with this status: available, pending or sold')
    .addHelpText('after', HELP.export)
    .action(({ status }: { status?: string }) => exportPets(status, databaseUrl(), options));

  program
    .command('backup')
    .description('copy the whole store into a file while it is in use')
    .argument('<file>', 'the file to create')
    .option('--force', 'replace an existing file')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP.backup)
    .action((file: string, flags: BackupFlags) => backup(file, flags, databaseUrl(), options));

  program
    .command('openapi')
    .description('print the OpenAPI document of the API')
    .addHelpText('after', HELP.openapi)
    .action(() => openapi(options));

  return program;
}

function addKeyCommands(keys: Command, commands: () => KeyCommands): void {
  keys
    .helpCommand(false)
    .command('create')
    .description('create a key, and show it once')
    .requiredOption('--name <name>', 'the name of the key holder')
    .option('--expires <when>', 'a duration such as 90d, 12h or 30m, or a date such as 2027-01-31')
    .option('--json', 'print the key and its attributes as JSON')
    .addHelpText('after', HELP.create)
    .action((flags: CreateFlags) => commands().create(flags));

  keys
    .command('list')
    .description('list all keys with their attributes')
    .option('--json', 'print the list as JSON')
    .addHelpText('after', HELP.list)
    .action((flags: JsonFlag) => commands().list(flags));

  keys
    .command('revoke')
    .description('revoke a key immediately')
    .argument('<id>', 'the id of the key, see keys list')
    .option('--json', 'print the attributes of the key as JSON')
    .addHelpText('after', HELP.revoke)
    .action((id: string, flags: JsonFlag) => commands().revoke(id, flags));

  keys
    .command('rotate')
    .description('create a key that replaces an old one, which expires later')
    .argument('<id>', 'the id of the old key, see keys list')
    .option(
      '--overlap <time>',
      'how long the old key stays valid: a duration such as 7d, 12h or 30m, or 0',
      '7d',
    )
    .option('--expires <when>', 'the expiry of the new key (default: never)')
    .option('--json', 'print the key and its attributes as JSON')
    .addHelpText('after', HELP.rotate)
    .action((id: string, flags: RotateFlags) => commands().rotate(id, flags));
}

/**
 * Throws if the URL is empty, which usually means that a shell variable is not set. The user would not expect that the
 * command uses the default store instead.
 */
function notEmpty(url: string): string {
  if (url === '') throw new UsageError("--database-url: expected a URL such as sqlite:PATH, got ''");
  return url;
}

function outputOf({ err, outScreen, errScreen }: Console, onHelp: (text: string) => void) {
  return {
    writeOut: onHelp,
    writeErr: err,
    getOutHelpWidth: () => outScreen.columns ?? 80,
    getErrHelpWidth: () => errScreen.columns ?? 80,
    getOutHasColors: () => outScreen.hasColours,
    getErrHasColors: () => errScreen.hasColours,
    outputError: (text: string, write: (text: string) => void) =>
      write(`${explain(text.replace(/^error: /, '').replace(SUGGESTION, ' $1'))}\n`),
  };
}
