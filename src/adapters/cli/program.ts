/** The command line: what there is to call, and how it ends. */

import { Command, CommanderError } from 'commander';
import type { Console } from './console.ts';
import { exitStatusOf, explain } from './errors.ts';
import { type StartService, serve } from './serve.ts';

/** What the commands need from outside. */
export interface CliOptions {
  readonly version: string;
  readonly console: Console;
  /** Aborted when the user or the system asks for an end. */
  readonly signal: AbortSignal;
  readonly startService: StartService;
}

/** Runs one command and gives its exit status: 0 done, 1 failed, 2 wrong usage. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<number> {
  const { console } = options;
  const program = new Command('animal-store')
    .description('A store that holds animals, served over HTTP.')
    .version(options.version)
    .exitOverride()
    .configureOutput({ writeOut: console.out, writeErr: console.err });

  program
    .command('serve')
    .description('serve the API until SIGINT or SIGTERM')
    .option('--database-url <url>', 'where the animals are, instead of DATABASE_URL')
    .action(({ databaseUrl }: { databaseUrl?: string }) => serve(databaseUrl, options));

  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    console.err(`${explain(error)}\n`);
    return exitStatusOf(error);
  }
}
