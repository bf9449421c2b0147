/** Reads settings from the environment, and collects the faults of invalid settings. */

import { readFileSync } from 'node:fs';
import { mayHoldPassword, shownValue } from './databases/shown-value.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** The error for invalid settings. The message has one line per invalid setting, and contains no secrets. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** The reason why a value is invalid. */
export class Fault {
  readonly reason: string;

  constructor(reason: string) {
    this.reason = reason;
  }
}

/** Parses a text. Returns a {@link Fault} when the text is invalid. */
export type Parse<T> = (text: string) => T | Fault;

/** The name of a command line option, and its value if the option is given. */
export type OptionValue = readonly [name?: string, value?: string | undefined];

export class Settings {
  readonly #environment: Environment;
  readonly #faults: string[] = [];

  constructor(environment: Environment) {
    this.#environment = environment;
  }

  /**
   * Parses the value of a command line option, if the option is given. Otherwise parses an environment variable, or
   * `defaultText` if the variable is missing or empty.
   */
  read<T>(name: string, defaultText: string, parse: Parse<T>, [option, value]: OptionValue = []): T {
    if (option !== undefined && value !== undefined) return this.#parse(option, value, parse);
    return this.#parse(name, this.#environment[name] || defaultText, parse);
  }

  /**
   * Parses the value of a command line option, if the option is given. Otherwise parses the variable `<name>`, or the
   * content of the file whose path is in the variable `<name>_FILE`. If neither variable is set, parses `defaultText`.
   * If both variables are set, collects a fault.
   */
  readSecret<T>(name: string, defaultText: string, parse: Parse<T>, option: OptionValue = []): T {
    const fileName = `${name}_FILE`;
    const file = this.#environment[fileName];
    if (!file || option[1] !== undefined) return this.read(name, defaultText, parse, option);
    return this.#parse(fileName, file, () =>
      this.#environment[name]
        ? new Fault(`${name} is set too: set one of them only`)
        : parseFile(file, parse),
    );
  }

  /**
   * Parses the text of a setting. If the text is invalid, collects the fault for `throwFaults`, and returns a value
   * that the caller must not use.
   */
  #parse<T>(name: string, text: string, parse: Parse<T>): T {
    const value = parse(text);
    if (value instanceof Fault) this.#faults.push(`${name}: ${value.reason}`);
    return value as T;
  }

  /** If faults were collected, throws a {@link ConfigError} with all of them. */
  throwFaults(): void {
    if (this.#faults.length > 0) throw new ConfigError(this.#faults.join('\n'));
  }
}

/** Splits a text at its commas. The result is empty if the text is empty. */
export function listOf(text: string): readonly string[] {
  return text === '' ? [] : text.split(',').map((item) => item.trim());
}

export function expected(what: string, text: string): Fault {
  return new Fault(`expected ${what}, got ${shownValue(text)}`);
}

function parseFile<T>(file: string, parse: Parse<T>): T | Fault {
  try {
    return parse(readFileSync(file, 'utf8').trim());
  } catch {
    return mayHoldPassword(file)
      ? expected('the path of a readable file', file)
      : new Fault(`the file ${file} cannot be read`);
  }
}
