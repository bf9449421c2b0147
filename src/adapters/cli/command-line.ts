/** The command line that a hint shows, as the user would have to type it. */

import { basename, relative } from 'node:path';

const PLAIN = /^[\w./:@%+-]+$/;

/** Returns how this process was started: `npx animal-store` by npm, `animal-store`, or `node PATH` for a path of the script. */
export function programName({ argv, env }: Pick<NodeJS.Process, 'argv' | 'env'>): string {
  const script = argv[1] ?? '';
  if (env['npm_command'] !== undefined) return 'npx animal-store';
  // A unit of systemd runs the script; its operators have the command.
  if (!script.endsWith('.js') || env['INVOCATION_ID'] !== undefined) return 'animal-store';
  return `node ${quoted(relative('', script) || basename(script))}`;
}

/** Appends the option for a database to a command. A URL that can have a password is not shown. */
export function commandLine(program: string, command: string, databaseUrl: string | undefined): string {
  const url = databaseUrl?.startsWith('sqlite:') ? quoted(databaseUrl) : 'URL';
  return `${program} ${command}${databaseUrl === undefined ? '' : ` --database-url ${url}`}`;
}

function quoted(text: string): string {
  return PLAIN.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
