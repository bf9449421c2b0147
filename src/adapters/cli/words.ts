import type { Command, Option } from 'commander';

export interface Position {
  readonly command: Command;
  /** The option whose value is the next word. */
  readonly option: Option | undefined;
}

/**
 * Returns the command to which the words after the name of the program lead. The words after `help` lead to the command
 * whose help they ask for.
 */
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
export function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}

/** Returns the short and the long name of an option, such as `-h` and `--help`. */
export function namesOf({ short, long }: Option): readonly string[] {
  return [short, long].filter((name) => name !== undefined);
}

/** Returns the name of a command with the names of its parents, such as `animal-store keys create`. */
export function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
