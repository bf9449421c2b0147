/** Defines the commands with their arguments and options. A command is loaded when it runs, so that every start is quick. */

import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import { INT64_MAX, INT64_MIN, parseInt64 } from '../../../domain/int64.ts';
import { PET_STATUSES } from '../../../domain/pet.ts';
import { SCRIPTS } from '../completion.ts';
import { HELP } from '../help.ts';
import type { CliOptions, CommandOptions } from '../options.ts';
import { pathOf } from '../words.ts';

const EXPIRES = '--expires <when>';
const JSON_KEY = ['--json', 'print the key and its attributes as JSON'] as const;
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
    .action(async (values) => (await import('./serve.ts')).serve(values, options));

  const keys = program
    .command('keys')
    .description('create, list, rotate and revoke API keys')
    .helpCommand(false);

  keys
    .command('create')
    .description('create a key, and show it once')
    .requiredOption('--name <name>', 'the name of the key holder')
    .option(EXPIRES, 'a duration such as 90d, 12h or 30m, a date such as 2027-01-31, or never')
    .option('--read-only', 'the key may list and read pets, but not create one')
    .option('--create-store', 'create the store if it does not exist')
    .option(...JSON_KEY)
    .action(async (flags) => (await import('./keys.ts')).createKey(flags, options));

  keys
    .command('list')
    .description('list all keys with their attributes')
    .option('--active', 'only keys that are neither expired nor revoked')
    .option('--json', 'print the list as JSON')
    .action(async (flags) => (await import('./keys.ts')).listKeys(flags, options));

  keys
    .command('revoke')
    .description('revoke a key immediately')
    .argument('<id>', 'the id of the key, see keys list')
    .option('--json', 'print the attributes of the key as JSON')
    .action(async (id, flags) => (await import('./keys.ts')).revokeKey(id, flags, options));

  keys
    .command('rotate')
    .description('create a key that replaces an old one, which expires later')
    .argument('<id>', 'the id of the old key, see keys list')
    .option(
      '--overlap <time>',
      'how long the old key stays valid: a duration such as 7d, 12h or 30m, or 0',
      '7d',
    )
    .option(EXPIRES, 'the expiry of the new key, or never (default: the lifetime of the old key)')
    .option(...JSON_KEY)
    .action(async (id, flags) => (await import('./keys.ts')).rotateKey(id, flags, options));

  const pets = program.command('pets').description('list, read and create pets').helpCommand(false);

  pets
    .command('list')
    .description('show a page of pets, in ascending order of id')
    .addOption(statusOption('only pets with this status'))
    .option('--limit <number>', 'how many pets, from 1 to 100 (default: 20)', integerUpTo(100))
    .option('--after <id>', 'only pets with a greater id', int64)
    .addOption(new Option('--all', 'all pets, however many').conflicts('limit'))
    .option('--json', 'print an array in JSON')
    .action(async (flags) => (await import('./pets.ts')).listPets(flags, options));

  pets
    .command('get')
    .description('show one pet')
    .argument('<id>', 'the id of the pet', int64)
    .option('--json', 'print the pet as JSON')
    .action(async (id, flags) => (await import('./pets.ts')).getPet(id, flags, options));

  pets
    .command('create')
    .description('create a pet, and show it')
    .requiredOption('--name <name>', 'the name of the pet')
    .requiredOption('--category-id <integer>', 'the id of its category', int64)
    .addOption(statusOption('the status (default: available)'))
    .option('--idempotency-key <key>', 'the same key and the same pet again create no second pet')
    .option('--create-store', 'create the store if it does not exist')
    .option('--json', 'print the pet as JSON')
    .action(async (flags) => (await import('./pets.ts')).createPet(flags, options));

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
    .action(async (file, flags) => (await import('./import.ts')).importPets(file, flags, options));

  program
    .command('export')
    .description('write all pets to standard output as NDJSON')
    .addOption(statusOption('only pets with this status'))
    .option('--output <file>', 'write to a file instead, compressed if the name ends in .gz')
    .option('--force', 'replace an existing file')
    .option('--gzip', 'compress with gzip, whatever the name')
    .addOption(
      new Option('--follow', 'go on with each new pet, until Ctrl-C').conflicts(['output', 'force', 'gzip']),
    )
    .option('--after <id>', 'with --follow, only pets with a greater id')
    .action(async (flags) => (await import('./export.ts')).exportPets(flags, options));

  program
    .command('backup')
    .description('copy the whole store into a file while it is in use')
    .argument('<file>', 'the file to create')
    .option('--force', 'replace an existing file')
    .option('--verify', 'check the whole copy, and compare it with the store, before it gets its name')
    .option(...JSON_RESULT)
    .action(async (file, flags) => (await import('./backup.ts')).backup(file, flags, options));

  program
    .command('restore')
    .description('replace the store by a backup, while no server runs')
    .argument('<file>', 'a file that the command backup has written')
    .option('--force', 'replace a store that has pets, or that cannot be read')
    .option(...JSON_RESULT)
    .action(async (file, flags) => (await import('./backup.ts')).restore(file, flags, options));

  program
    .command('doctor')
    .description('examine the settings and the store, and change nothing')
    .option('--backup <file>', 'also check a backup of the store')
    .option('--json', 'print the report as JSON')
    .action(async (flags) => (await import('./doctor.ts')).doctor(flags, options));

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

  refuseOptionsAsValues(program);
}

function statusOption(description: string): Option {
  return new Option('--status <status>', description).choices(PET_STATUSES);
}

function int64(text: string): bigint {
  const value = parseInt64(text);
  if (value === undefined)
    throw new InvalidArgumentError(`expected an integer from ${INT64_MIN} to ${INT64_MAX}`);
  return value;
}

function integerUpTo(max: number): (text: string) => number {
  return (text) => {
    const value = Number(parseInt64(text) ?? 0n);
    if (value < 1 || value > max) throw new InvalidArgumentError(`expected an integer from 1 to ${max}`);
    return value;
  };
}

/** Without this, `--name --expires=90d` would create a key with the name `--expires=90d`. */
function refuseOptionsAsValues(command: Command): void {
  for (const option of command.options) {
    if (!option.required || option.parseArg !== undefined) continue;
    option.argParser((value) => {
      if (!value.startsWith('-')) return value;
      throw new InvalidArgumentError(`expected a value that does not begin with -`);
    });
  }
  command.commands.forEach(refuseOptionsAsValues);
}
