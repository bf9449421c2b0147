import type { Argument, Command, Option } from 'commander';

/** The line that asks the shell to complete the name of a file. No candidate starts with a colon. */
const FILES = ':files';

interface Position {
  readonly command: Command;
  /** The option whose value is the next word. */
  readonly option: Option | undefined;
}

/** Returns the command to which words lead. The words after `help` lead to the command whose help they ask for. */
export function positionAfter(program: Command, words: readonly string[]): Position {
  let command = program;
  let option: Option | undefined;
  for (const word of words) {
    if (option !== undefined) {
      option = undefined;
    } else {
      option = optionsOf(command).find((each) => each.required && namesOf(each).includes(word));
      command = command.commands.find((child) => child.name() === word && word !== 'help') ?? command;
    }
  }
  return { command, option };
}

/** Returns the options of a command that its help shows, including those of the program. */
function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

function namesOf({ short, long }: Option): readonly string[] {
  return [short, long].filter((name) => name !== undefined);
}

/** `animal-store keys create` */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}

/** Returns a line for each candidate for the last word, which can be empty: the word and, if any, a tab and its description. */
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

function valuesOf(definition: Option | Argument | undefined, current: string, prefix = ''): string[] {
  if (definition === undefined) return [];
  const isFile = 'flags' in definition ? definition.flags.endsWith('<file>') : definition.name() === 'file';
  if (isFile) return [FILES];
  const values = definition.argChoices?.map((choice) => prefix + choice) ?? [];
  return values.filter((value) => value.startsWith(current));
}
