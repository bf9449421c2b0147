/** Runs commands of the command line on the store of a server, while the server runs. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { BIN } from '../support/process.ts';

/** Creates an API key with the given options. Resolves with the key and its id. */
export async function createKey(
  folder: string,
  name: string,
  ...options: readonly string[]
): Promise<[key: string, id: string]> {
  const { key, id } = JSON.parse(
    await runCommand(folder, 'keys', 'create', '--name', name, '--json', ...options),
  );
  return [key, id];
}

/** Resolves with the standard output. Rejects when the exit status is not 0. */
export async function runCommand(folder: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [BIN, ...args], {
    env: { PATH: process.env['PATH'] ?? '', DATABASE_URL: `sqlite:${folder}/pets.db` },
  });
  return stdout;
}
