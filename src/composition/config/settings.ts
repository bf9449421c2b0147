/** Reads the variables of a schema from the environment, from files and from options, and collects all their faults. */

import { readFileSync, statSync } from 'node:fs';
import * as v from 'valibot';
import { visible } from '../../domain/visible.ts';
import { mayHoldPassword } from '../databases/refuse.ts';

/** Matches a byte order mark at the start of `.env`. Node.js reads the mark of UTF-16 as two replacement characters. */
const BYTE_ORDER_MARK = /^(?:\ufeff|\ufffd\ufffd)/;

/** The variables that can also be given as a file, whose path is in `<variable>_FILE`. Their values are never shown. */
export const SECRETS: readonly string[] = ['DATABASE_URL', 'API_KEYS', 'API_KEY'];

export type Environment = Readonly<Record<string, string | undefined>>;

/** The error for invalid settings. The message has one line per invalid setting, and contains no secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export interface Settings<Values> {
  readonly values: Values;
  /** The variable or the option that a value was read from; `undefined` for a default. */
  readonly sources: Readonly<Record<string, string | undefined>>;
  /** The file that a value was read from. */
  readonly files: Readonly<Record<string, string | undefined>>;
}

/**
 * Reads the variables of a schema. An empty variable counts as not set, except `DATABASE_URL`: a failed `$(…)` must not select the
 * default store. Throws a `ConfigError` that names every fault.
 *
 * @param options the values of command line options, by the names of their variables; they have precedence
 * @param gone the advice for each variable that only older releases had, by the name of the variable
 */
export function readSettings<const Entries extends v.ObjectEntries>(
  schema: v.ObjectSchema<Entries, undefined>,
  environment: Environment,
  options: Environment = {},
  gone: Readonly<Record<string, string>> = {},
): Settings<v.InferOutput<typeof schema>> {
  const faults = Object.entries(gone)
    .filter(([name]) => environment[name])
    .map(([name, instead]) => `${name}: this variable is gone: ${instead}`);
  if (Object.keys(environment).some((name) => BYTE_ORDER_MARK.test(name)))
    faults.push('.env: the file begins with a byte order mark: save it in UTF-8 without one');
  const sources: Record<string, string | undefined> = {};
  const texts: Record<string, string | undefined> = {};
  const files: Record<string, string> = {};
  for (const name of Object.keys(schema.entries)) {
    const file = SECRETS.includes(name) ? environment[`${name}_FILE`] : undefined;
    if (options[name] !== undefined) {
      sources[name] = `--${name.toLowerCase().replaceAll('_', '-')}`;
      texts[name] = options[name];
    } else if (!file) {
      const empty = [name, `${name}_FILE`].find((each) => environment[each] === '');
      if (!environment[name]) {
        if (name === 'DATABASE_URL' && empty)
          faults.push(`${empty}: the variable is empty: set it, or unset it to use the default store`);
        continue;
      }
      sources[name] = name;
      texts[name] = environment[name];
    } else if (environment[name]) {
      faults.push(`${name}_FILE: ${name} is set too: set one of them only`);
    } else {
      sources[name] = `${name}_FILE`;
      files[name] = file;
      const shown = mayHoldPassword(file) ? 'at the path, which may hold a password,' : file;
      try {
        const text = readSecret(file);
        if (text || name === 'API_KEYS') texts[name] = text;
        else faults.push(`${name}_FILE: the file ${shown} is empty`);
      } catch {
        faults.push(`${name}_FILE: the file ${shown} cannot be read`);
      }
    }
  }
  const { issues = [], output } = v.safeParse(schema, texts);
  for (const issue of issues) {
    const name = v.getDotPath(issue) ?? '';
    faults.push(`${sources[name] ?? name}: ${issue.message}`);
  }
  if (faults.length > 0) throw new ConfigError(faults.map(visible).join('\n'));
  return { values: output as v.InferOutput<typeof schema>, sources, files };
}

const pipes = new Map<string, string>();

/** Reads the secrets in pipes, which can be read only once. Blocks the process until the writer of each pipe has closed it. */
export function readPipes(environment: Environment): void {
  for (const name of SECRETS) {
    const file = environment[`${name}_FILE`] ?? '';
    try {
      if (statSync(file).isFIFO()) pipes.set(file, readFileSync(file, 'utf8').trim());
    } catch {
      // `readSettings` reports an unreadable file if the command needs the setting in it.
    }
  }
}

export function readSecret(file: string): string {
  return pipes.get(file) ?? readFileSync(file, 'utf8').trim();
}

/**
 * Describes variables that are named like a setting, but with one or two characters more or fewer at the end. Other
 * programs have variables such as PORTS, so a name without `_` counts only if it has more than six letters.
 */
export function misspellings(environment: Environment, settings: readonly string[]): string[] {
  const known = [...settings, ...SECRETS.flatMap((name) => [name, `${name}_FILE`])];
  const names = Object.keys(environment).filter((name) => /_|.{7}/.test(name) && !known.includes(name));
  return names.flatMap((name) => {
    const isMeant = (each: string) =>
      (name.startsWith(each) || each.startsWith(name)) && Math.abs(name.length - each.length) <= 2;
    const meant = settings.find(isMeant);
    return meant ? [`${name}: there is no such setting, and it has no effect: is ${meant} meant?`] : [];
  });
}
