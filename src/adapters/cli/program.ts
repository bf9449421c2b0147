/** The command line: what there is to call, and how it ends. */

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
import { keepingOutputOff } from './store-files.ts';

/** Commander's own second line. */
const SUGGESTION = /\n(\(Did you mean .*\)\s*)$/;

/** Runs one command and gives its exit status: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<number> {
  const { console } = options;
  if (args.length === 0) {
    console.err(FIRST_STEPS);
    return WRONG_USAGE;
  }
  const help: string[] = [];
  const program = createProgram(keepingOutputOff(options), (text) => help.push(text));
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

/** @param onHelp told of help that was asked for */
function createProgram(options: CliOptions, onHelp: (text: string) => void): Command {
  const program = new Command('animal-store')
    .description('A store that holds animals, served over HTTP.')
    .version(options.version)
    .option('--database-url <url>', 'where the animals are, such as sqlite:PATH', notEmpty)
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

  addKeyCommands(program.command('keys').description('issue, list and end API keys'), () => {
    return new KeyCommands(options.console, options.openStorage, databaseUrl());
  });

  program
    .command('import')
    .description('add the animals of a file of NDJSON, all or none')
    .argument('<file>', 'a file with an animal in JSON on each line, - for standard input')
    .option('--skip-invalid', 'leave bad lines out, and write them to a file')
    .option('--refused <file>', 'the file for bad lines (default: <file>.refused.ndjson)')
    .option('--new-ids', 'give the animals new ids, whatever they bring along')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', HELP.import)
    .action((file: string, flags: ImportFlags) => importPets(file, flags, databaseUrl(), options));

  program
    .command('export')
    .description('write every animal to standard output as NDJSON')
    .option('--status <status>', 'only animals in this state: available, pending or sold')
    .addHelpText('after', HELP.export)
    .action(({ status }: { status?: string }) => exportPets(status, databaseUrl(), options));

  program
    .command('backup')
    .description('copy the SQLite file of the store while it is in use')
    .argument('<file>', 'the file to make')
    .option('--force', 'replace a file that is there already')
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
    .description('make a key, and show it this once')
    .requiredOption('--name <name>', 'whose key it is')
    .option('--expires <when>', 'a time such as 90d, 12h or 30m, or a day such as 2027-01-31')
    .option('--json', 'print the key and what is known of it as JSON')
    .addHelpText('after', HELP.create)
    .action((flags: CreateFlags) => commands().create(flags));

  keys
    .command('list')
    .description('show what is known of every key')
    .option('--json', 'print it as JSON')
    .addHelpText('after', HELP.list)
    .action((flags: JsonFlag) => commands().list(flags));

  keys
    .command('revoke')
    .description('end a key now')
    .argument('<id>', 'the id of the key, as keys list shows it')
    .option('--json', 'print what is known of the key as JSON')
    .addHelpText('after', HELP.revoke)
    .action((id: string, flags: JsonFlag) => commands().revoke(id, flags));

  keys
    .command('rotate')
    .description('make a key in the place of an old one, which goes on for a while')
    .argument('<id>', 'the id of the old key, as keys list shows it')
    .option('--overlap <time>', 'how long the old key goes on: a time such as 7d, 12h or 30m, or 0', '7d')
    .option('--expires <when>', 'when the new key ends; without it, never')
    .option('--json', 'print the key and what is known of it as JSON')
    .addHelpText('after', HELP.rotate)
    .action((id: string, flags: RotateFlags) => commands().rotate(id, flags));
}

/** An empty URL comes of a variable that is not set: the default store would be a surprise. */
function notEmpty(url: string): string {
  if (url === '')
    throw new UsageError('--database-url: nothing is given, a URL such as sqlite:PATH is needed');
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
