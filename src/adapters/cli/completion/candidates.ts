import type { Argument, Command, Option } from 'commander';
import { namesOf, optionsOf, positionAfter } from '../words.ts';

/** The line that asks the shell to complete the name of a file. No candidate starts with a colon. */
const FILES = ':files';

/**
 * Returns a line for each candidate: the word and, if it has one, a tab and its description. Reads nothing but the
 * definition of the program.
 * @param words the words after the name of the program, of which the last one, which can be empty, is to be completed
 */
export function candidateLines(program: Command, words: readonly string[]): readonly string[] {
  const current = words.at(-1) ?? '';
  // Bash passes `--status=sold` as three words, other shells as one.
  const [prefix] = /^--[^=]+=/.exec(current) ?? [];
  const earlier = words.slice(0, -1).filter((word) => word !== '=');
  if (prefix !== undefined) earlier.push(prefix.slice(0, -1));
  const { command, option } = positionAfter(program, earlier);
  if (option !== undefined) return valuesOf(option, current, prefix);
  if (!current.startsWith('-')) {
    const commands = command.commands.map((child) => `${child.name()}\t${child.description()}`);
    const [argument] = command.registeredArguments;
    return [...commands.filter((line) => line.startsWith(current)), ...valuesOf(argument, current)];
  }
  const lines = optionsOf(command).flatMap((each) =>
    namesOf(each).map((name) => `${name}\t${each.description}`),
  );
  return lines.filter((line) => line.startsWith(current));
}

function valuesOf(
  definition: Option | Argument | undefined,
  current: string,
  prefix = '',
): readonly string[] {
  if (definition === undefined) return [];
  const isFile = 'flags' in definition ? definition.flags.endsWith('<file>') : definition.name() === 'file';
  if (isFile) return [FILES];
  const values = definition.argChoices?.map((choice) => prefix + choice) ?? [];
  return values.filter((value) => value.startsWith(current));
}
