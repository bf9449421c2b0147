/** Defines the commands except `keys`, with their arguments and options. */

import { Argument, type Command, Option } from 'commander';
import { PET_STATUSES } from '../../domain/pet.ts';
import { type BackupFlags, backup } from './backup.ts';
import { completionOf, SHELLS, type Shell } from './completion/index.ts';
import { type DoctorFlags, doctor } from './doctor.ts';
import { UsageError } from './errors.ts';
import { type ExportFlags, exportPets } from './export.ts';
import { HELP } from './help.ts';
import { type ImportFlags, importPets } from './import.ts';
import { openapi } from './openapi.ts';
import type { CliOptions, ServeValues } from './options.ts';
import { type RestoreFlags, restore } from './restore.ts';
import { serve } from './serve.ts';

const JSON_RESULT = ['--json', 'print the result as JSON'] as const;

/** @param databaseUrl returns the value of `--database-url` after the arguments were parsed */
export function addCommands(
  program: Command,
  databaseUrl: () => string | undefined,
  options: CliOptions,
): void {
  program
    .command('serve')
    .description('serve the API until SIGINT or SIGTERM')
    .option('--host <address>', 'the address to listen on (default: HOST, or 127.0.0.1)')
    .option('--port <number>', 'the port to listen on, 0 for a free one (default: PORT, or 3000)')
    .addHelpText('after', HELP.serve)
    .action((values: ServeValues) => serve({ ...values, databaseUrl: databaseUrl() }, options));

  program
    .command('import')
    .description('import the pets of an NDJSON file, all or none')
    .argument('<file>', 'a file with one pet in JSON per line, or - for standard input')
    .option('--dry-run', 'check all lines, but import nothing')
    .option('--skip-invalid', 'skip invalid lines, and write them to a file')
    .option('--refused <file>', 'the file for invalid lines (default: <file>.refused.ndjson)')
    .option('--force', 'replace an existing file of --refused')
    .option('--new-ids', 'assign new ids, and ignore the ids in the file')
    .option('--create-store', 'create the store if it does not exist')
    .option(...JSON_RESULT)
    .addHelpText('after', HELP.import)
    .action((file: string, flags: ImportFlags) => importPets(file, flags, databaseUrl(), options));

  program
    .command('export')
    .description('write all pets to standard output as NDJSON')
    .addOption(
      new Option('--status <status>', 'only pets with this status').choices(PET_STATUSES).argParser(String),
    )
    .option('--output <file>', 'write to a file instead, compressed if the name ends in .gz')
    .option('--force', 'replace an existing file')
    .option('--gzip', 'compress with gzip, whatever the name')
    .addHelpText('after', HELP.export)
    .action((flags: ExportFlags) => exportPets(flags, databaseUrl(), options));

  program
    .command('backup')
    .description('copy the whole store into a file while it is in use')
    .argument('<file>', 'the file to create')
    .option('--force', 'replace an existing file')
    .option(...JSON_RESULT)
    .addHelpText('after', HELP.backup)
    .action((file: string, flags: BackupFlags) => backup(file, flags, databaseUrl(), options));

  program
    .command('restore')
    .description('replace the store by a backup, while no server runs')
    .argument('<file>', 'a file that the command backup has written')
    .option('--force', 'replace a store that has pets, or that cannot be read')
    .option(...JSON_RESULT)
    .addHelpText('after', HELP.restore)
    .action((file: string, flags: RestoreFlags) => restore(file, flags, databaseUrl(), options));

  program
    .command('doctor')
    .description('examine the settings and the store, and change nothing')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', HELP.doctor)
    .action((flags: DoctorFlags) => doctor(flags, databaseUrl(), options));

  program
    .command('openapi')
    .description('print the OpenAPI document of the API')
    .addHelpText('after', HELP.openapi)
    .action(() => openapi(options));

  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS).argParser(String))
    .addHelpText('after', HELP.completion)
    .action((shell: string) => options.console.out(completionOf(program, shellOf(shell))));

  program
    .command('help')
    .description('show the help of a command')
    .argument('[command...]', 'the command, such as keys create')
    .addHelpText('after', HELP.help)
    .action((names: string[]) => commandAt(program, names).help());
}

function shellOf(text: string): Shell {
  const shell = SHELLS.find((name) => name === text);
  if (shell === undefined) throw new UsageError(`shell: expected one of ${SHELLS.join(', ')}, got '${text}'`);
  return shell;
}

/** Returns the command with this name. Fails with a usage error if there is none. */
function commandAt(program: Command, names: readonly string[]): Command {
  return names.reduce(
    (command, name) =>
      command.commands.find((child) => child.name() === name) ?? command.error(`unknown command '${name}'`),
    program,
  );
}
