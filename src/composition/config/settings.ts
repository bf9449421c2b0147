import { readFileSync } from 'node:fs';
import { invalidRequest } from '../../domain/errors.ts';
import { mayHoldPassword, refuse } from '../databases/refuse.ts';

/** Some editors write it at the start of a file such as `.env`. It would be a part of the name of the first variable. */
const BYTE_ORDER_MARK = '\ufeff';
/** What Node.js reads instead of the two bytes of the mark of UTF-16. It reads no other variable of such a file. */
const UTF16_MARK = '\ufffd\ufffd';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The error for invalid settings. The message has one line per invalid setting, and contains no secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Throws `invalid_request`, without secrets in the message. `source` is the option or the variable. */
export type Parse<T> = (text: string, source: string) => T;

/** Reads settings from the environment and from command line options, and collects their faults. */
export class Settings {
  readonly #environment: Environment;
  readonly #options: Environment;
  readonly #faults: string[] = [];

  /** @param options the values of command line options, by the variable */
  constructor(environment: Environment, options: Environment) {
    this.#environment = environment;
    this.#options = options;
    if (Object.keys(environment).some((name) => name.startsWith(UTF16_MARK))) {
      this.addFault(
        'a variable of the environment begins with the mark of UTF-16: save the file .env in UTF-8',
      );
    }
    const marked = Object.keys(environment).find((name) => name.startsWith(BYTE_ORDER_MARK));
    if (marked !== undefined) {
      const name = marked.slice(1);
      this.addFault(
        `${name}: the file of this variable begins with a byte order mark: save it in UTF-8 without one`,
      );
    }
  }

  /** Returns `undefined` if there is no value, or if the value is invalid. */
  read<T>(variable: string, parse: Parse<T>): T | undefined {
    const option = this.#options[variable];
    const source = option === undefined ? variable : `--${variable.toLowerCase().replaceAll('_', '-')}`;
    const text = option ?? (this.#environment[variable] || undefined);
    try {
      return text === undefined ? undefined : parse(text, source);
    } catch (error) {
      this.#faults.push(`${source}: ${(error as Error).message}`);
      return undefined;
    }
  }

  /** Like `read`, but the value can also be in a file, whose path is in the variable `<variable>_FILE`. */
  readSecret<T>(variable: string, parse: Parse<T>): T | undefined {
    const fileVariable = `${variable}_FILE`;
    const isInFile = this.#options[variable] === undefined && this.#environment[fileVariable];
    if (!isInFile) return this.read(variable, parse);
    return this.read(fileVariable, (path, source) => {
      if (this.#environment[variable]) throw invalidRequest(`${variable} is set too: set one of them only`);
      return parse(textOf(path), source);
    });
  }

  addFault(message: string): void {
    this.#faults.push(message);
  }

  throwFaults(): void {
    if (this.#faults.length > 0) throw new ConfigError(this.#faults.join('\n'));
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    if (mayHoldPassword(path)) refuse('the path of a readable file', path);
    throw invalidRequest(`the file ${path} cannot be read`);
  }
}
