import { type CommandWords, type OptionWords, valueOptions } from './words.ts';

const COMPLETE = 'complete -c animal-store';

export function fishScript(commands: readonly CommandWords[]): string {
  return `function __animal_store_at
  set -l at
  set -l is_value 0
  for word in (commandline -opc)[2..-1]
    if test $is_value -eq 1
      set is_value 0
      continue
    end
    switch $word
      case ${valueOptions(commands).join(' ')}
        set is_value 1
        continue
    end
    switch "$at/$word"
${commands.flatMap(below).join('\n')}
    end
  end
  test "$at" = "$argv"
end

${COMPLETE} -f
${commands.flatMap(completions).join('\n')}
`;
}

function below({ path, commands }: CommandWords): string[] {
  return commands.flatMap(({ name }) => [
    `      case ${quoted(`${path}/${name}`)}`,
    `        set at ${quoted(`${path} ${name}`.trim())}`,
  ]);
}

function completions({ path, commands, options, values }: CommandWords): string[] {
  const at = `${COMPLETE} -n ${quoted(`__animal_store_at ${path}`.trim())}`;
  const words = values.words.length > 0 ? [`${at} -a ${quoted(values.words.join(' '))}`] : [];
  return [
    ...commands.map(({ name, description }) => `${at} -a ${name} -d ${quoted(description)}`),
    ...options.map((option) => `${at} ${optionOf(option)}`),
    ...words,
    ...(values.areFiles ? [`${at} -F`] : []),
  ];
}

function optionOf({ names, description, takesValue, words, areFiles }: OptionWords): string {
  const flags = names.map((name) => (name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`));
  const list = words.length > 0 ? [`-a ${quoted(words.join(' '))}`] : [];
  const value = takesValue ? [areFiles ? '-r -F' : '-x'] : [];
  return [...flags, ...value, ...list, `-d ${quoted(description)}`].join(' ');
}

/** Puts a text between single quotes of fish, in which a backslash escapes a quote. */
function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
