/** Defines the commands with their arguments and options. A command is loaded when it runs, so that every start is quick. */

import { Argument, type Command, Option } from 'commander';
import { PET_STATUSES } from '../../../domain/pet.ts';
import { SCRIPTS } from '../completion/scripts.ts';
import { HELP } from '../help.ts';
import type { CliOptions, CommandOptions, JsonFlag, ReplaceFlags, ServeValues } from '../options.ts';
import { pathOf } from '../words.ts';
import type { ExportFlags } from './export.ts';
import type { ImportFlags } from './import.ts';
import { defineKeyCommands } from './keys/index.ts';

const JSON_RESULT = ['--json', 'print the result as JSON'] as const;

export function defineCommands(program: Command, cliOptions: CliOptions): void {
  program
    .description('A pet store with an HTTP API.')
    .version(cliOptions.version, '-v, --version', 'print the version')
    .option('--database-url <url>', 'the database of the store, such as sqlite:PATH')
    .configureHelp({ showGlobalOptions: true })
    .addHelpText('afterAll', ({ command }) => HELP[pathOf(command)] ?? '');

  const options: CommandOptions = {
    ...cliOptions,
    get databaseUrl() {
      return program.opts<Pick<CommandOptions, 'databaseUrl'>>().databaseUrl;
    },
  };

  program
    .command('serve')
    .description('serve the API until SIGINT or SIGTERM')
    .option('--host <address>', 'the address to listen on (default: HOST, or 127.0.0.1)')
    .option('--port <number>', 'the port to listen on, 0 for a free one (default: PORT, or 3000)')
    .action(async (values: ServeValues) => (await import('./serve.ts')).serve(values, options));

  defineKeyCommands(program, options);

  program
    .command('import')
    .description('import the pets of an NDJSON file, all or none')
    .argument('<file>', 'a file with one pet in JSON per line, or - for standard input')
    .addOption(new Option('--dry-run', 'check all lines, but import nothing').conflicts('createStore'))
    .option('--skip-invalid', 'skip invalid lines, and write them to a file')
    .option('--refused <file>', 'the file for invalid lines (default: <file>.refused.ndjson)')
    .option('--force', 'replace an existing file of --refused')
    .option('--new-ids', 'assign new ids, and ignore the ids in the file')
    .option('--create-store', 'create the store if it does not exist')
    .option(...JSON_RESULT)
    .action(async (file: string, flags: ImportFlags) =>
      (await import('./import.ts')).importPets(file, flags, options),
    );

  program
    .command('export')
    .description('write all pets to standard output as NDJSON')
    .addOption(new Option('--status <status>', 'only pets with this status').choices(PET_STATUSES))
    .option('--output <file>', 'write to a file instead, compressed if the name ends in .gz')
    .option('--force', 'replace an existing file')
    .option('--gzip', 'compress with gzip, whatever the name')
    .action(async (flags: ExportFlags) => (await import('./export.ts')).exportPets(flags, options));

  program
    .command('backup')
    .description('copy the whole store into a file while it is in use')
    .argument('<file>', 'the file to create')
    .option('--force', 'replace an existing file')
    .option(...JSON_RESULT)
    .action(async (file: string, flags: ReplaceFlags) =>
      (await import('./backup.ts')).backup(file, flags, options),
    );

  program
    .command('restore')
    .description('replace the store by a backup, while no server runs')
    .argument('<file>', 'a file that the command backup has written')
    .option('--force', 'replace a store that has pets, or that cannot be read')
    .option(...JSON_RESULT)
    .action(async (file: string, flags: ReplaceFlags) =>
      (await import('./restore.ts')).restore(file, flags, options),
    );

  program
    .command('doctor')
    .description('examine the settings and the store, and change nothing')
    .option('--json', 'print the report as JSON')
    .action(async (flags: JsonFlag) => (await import('./doctor.ts')).doctor(flags, options));

  program
    .command('openapi')
    .description('print the OpenAPI document of the API')
    .action(async () => options.console.out(`${await options.openApiDocument()}\n`));

  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(Object.keys(SCRIPTS)))
    .action((shell: string) => options.console.out(SCRIPTS[shell] ?? ''));

  program
    .command('help')
    .description('show the help of a command')
    .argument('[command...]', 'the command, such as keys create')
    .action((names: string[]) => {
      const step = (command: Command, name: string): Command =>
        command.commands.find((child) => child.name() === name) ?? command.error(`unknown command '${name}'`);
      names.reduce(step, program).help();
    });
}
