/** Defines the commands of `keys`, with their arguments and options. */

import type { Command } from 'commander';
import type { CommandOptions, JsonFlag } from '../../options.ts';
import type { CreateFlags, RotateFlags } from './issue.ts';
import type { ListFlags } from './list.ts';

const EXPIRES = '--expires <when>';
const JSON_KEY = ['--json', 'print the key and its attributes as JSON'] as const;

export function defineKeyCommands(program: Command, options: CommandOptions): void {
  const keys = program
    .command('keys')
    .description('create, list, rotate and revoke API keys')
    .helpCommand(false);

  keys
    .command('create')
    .description('create a key, and show it once')
    .requiredOption('--name <name>', 'the name of the key holder')
    .option(EXPIRES, 'a duration such as 90d, 12h or 30m, a date such as 2027-01-31, or never')
    .option('--create-store', 'create the store if it does not exist')
    .option(...JSON_KEY)
    .action(async (flags: CreateFlags) => (await import('./issue.ts')).createKey(flags, options));

  keys
    .command('list')
    .description('list all keys with their attributes')
    .option('--active', 'only keys that are neither expired nor revoked')
    .option('--json', 'print the list as JSON')
    .action(async (flags: ListFlags) => (await import('./list.ts')).listKeys(flags, options));

  keys
    .command('revoke')
    .description('revoke a key immediately')
    .argument('<id>', 'the id of the key, see keys list')
    .option('--json', 'print the attributes of the key as JSON')
    .action(async (id: string, flags: JsonFlag) =>
      (await import('./revoke.ts')).revokeKey(id, flags, options),
    );

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
    .action(async (id: string, flags: RotateFlags) =>
      (await import('./issue.ts')).rotateKey(id, flags, options),
    );
}
