/** Reads the units of systemd in `deploy`, with the paths of this machine. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { BIN } from '../support/process.ts';

export const DEPLOY: string = join(import.meta.dirname, '../../deploy');

const INSTALLATION = '/opt/animal-store/node_modules';

/** Returns the text of a unit with the Node.js and the command of this clone. */
export function unitText(name: string): string {
  return readFileSync(join(DEPLOY, name), 'utf8')
    .replaceAll(`${INSTALLATION}/node/bin/node`, process.execPath)
    .replaceAll(`${INSTALLATION}/animal-store/bin/animal-store.js`, BIN);
}

/** Returns the values of a setting, such as `ExecStart`, in their order. */
export function settings(text: string, name: string): string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));
}

/** Returns the words of a command of a unit, such as `ExecStart`. */
export function commandOf(text: string, name = 'ExecStart'): [command: string, args: string[]] {
  const [command = '', ...args] = wordsOf(settings(text, name)[0] ?? '');
  return [command, args];
}

/** Returns the environment that a unit sets, with another folder instead of `/var/lib/animal-store`. */
export function environmentOf(text: string, folder: string): Record<string, string> {
  const words = settings(text, 'Environment').flatMap((line) => line.split(' '));
  return Object.fromEntries(
    words.map((word) => {
      const [name = '', ...value] = word.split('=');
      return [name, value.join('=').replace('/var/lib/animal-store', folder)];
    }),
  );
}

/** Returns the words of a command line. Quoted words, and the escapes `%%` and `$$`, are read as systemd reads them. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(([, single, double, plain]) =>
    (single ?? double ?? plain ?? '').replaceAll('%%', '%').replaceAll('$$', () => '$'),
  );
}

/** Returns the status of a response, or 0 if there is none. */
export async function statusOf(url: string): Promise<number> {
  const { status } = await fetch(url, { signal: AbortSignal.timeout(2000) }).catch(() => ({ status: 0 }));
  return status;
}
