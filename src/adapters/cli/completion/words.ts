/** Reads from the definition of the program which words can follow each command. */

import type { Argument, Command, Option } from 'commander';

/** What can follow an option or a command. */
export interface Values {
  readonly words: readonly string[];
  readonly areFiles: boolean;
}

export interface OptionWords extends Values {
  /** The short and the long name, such as `-h` and `--help`. An option has at least one of them. */
  readonly names: readonly string[];
  readonly description: string;
  readonly takesValue: boolean;
}

export interface CommandWords {
  /** The name of the command without the name of the program, such as `keys create`. Empty for the program itself. */
  readonly path: string;
  /** The commands below this command. */
  readonly commands: readonly { readonly name: string; readonly description: string }[];
  readonly options: readonly OptionWords[];
  /** The values of the arguments of the command. */
  readonly values: Values;
}

/** Returns the words of the program and of all its commands. */
export function wordsOf(program: Command): readonly CommandWords[] {
  const topics = program.commands.map((command) => command.name());
  const visit = (command: Command, path: string): CommandWords[] => {
    const help = command.createHelp();
    const options = [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
    const values =
      path === 'help' ? { words: topics, areFiles: false } : valuesOf(command.registeredArguments[0]);
    const words: CommandWords = {
      path,
      commands: command.commands.map((child) => ({ name: child.name(), description: child.description() })),
      options: options.map(optionWords),
      values,
    };
    const below = command.commands.map((child) => visit(child, `${path} ${child.name()}`.trim()));
    return [words, ...below.flat()];
  };
  return visit(program, '');
}

/** Returns the names of all options that take a value. */
export function valueOptions(commands: readonly CommandWords[]): readonly string[] {
  const options = commands.flatMap((command) => command.options).filter(({ takesValue }) => takesValue);
  return [...new Set(options.flatMap(({ names }) => names))];
}

/** Puts a text between single quotes of a POSIX shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function optionWords(option: Option): OptionWords {
  const { short, long, description } = option;
  const names = [short, long].filter((name) => name !== undefined);
  return { names, description, takesValue: option.required, ...valuesOf(option) };
}

function valuesOf(definition: Option | Argument | undefined): Values {
  const isFile = definition !== undefined && /<file>$/.test('flags' in definition ? definition.flags : '');
  const isFileArgument = definition !== undefined && 'name' in definition && definition.name() === 'file';
  return { words: definition?.argChoices ?? [], areFiles: isFile || isFileArgument };
}
