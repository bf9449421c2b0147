/** Defines the commands of `keys`, with their arguments and options. */

import type { Command } from 'commander';
import { HELP } from './help.ts';
import { type CreateFlags, type JsonFlag, KeyCommands, type ListFlags, type RotateFlags } from './keys.ts';
import type { CliOptions } from './options.ts';

/** @param databaseUrl returns the value of `--database-url` after the arguments were parsed */
export function addKeyCommands(
  program: Command,
  databaseUrl: () => string | undefined,
  options: CliOptions,
): void {
  const keys = program
    .command('keys')
    .description('create, list, rotate and revoke API keys')
    .helpCommand(false);
  const commands = (): KeyCommands => new KeyCommands(options, databaseUrl());

  keys
    .command('create')
    .description('create a key, and show it once')
    .requiredOption('--name <name>', 'the name of the key holder')
    .option('--expires <when>', 'a duration such as 90d, 12h or 30m, a date such as 2027-01-31, or never')
    .option('--create-store', 'create the store if it does not exist')
    .option('--json', 'print the key and its attributes as JSON')
    .addHelpText('after', HELP.create)
    .action((flags: CreateFlags) => commands().create(flags));

  keys
    .command('list')
    .description('list all keys with their attributes')
    .option('--active', 'only keys that are neither expired nor revoked')
    .option('--json', 'print the list as JSON')
    .addHelpText('after', HELP.list)
    .action((flags: ListFlags) => commands().list(flags));

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
    .option('--expires <when>', 'the expiry of the new key, or never (default: the lifetime of the old key)')
    .option('--json', 'print the key and its attributes as JSON')
    .addHelpText('after', HELP.rotate)
    .action((id: string, flags: RotateFlags) => commands().rotate(id, flags));
}
