/** The command line that a hint shows, as the user would have to type it. */

/** Returns how this process was started: by npm or npx, or as the command. */
export function programName({ env }: Pick<NodeJS.Process, 'env'>): string {
  return env['npm_command'] === undefined ? 'animal-store' : 'npx animal-store';
}

/** Appends the option for a database to a command. A URL that can have a password is not shown. */
export function commandLine(program: string, command: string, databaseUrl: string | undefined): string {
  const url = databaseUrl?.startsWith('sqlite:') ? quoted(databaseUrl) : 'URL';
  return `${program} ${command}${databaseUrl === undefined ? '' : ` --database-url ${url}`}`;
}

function quoted(text: string): string {
  return /^[\w./:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
