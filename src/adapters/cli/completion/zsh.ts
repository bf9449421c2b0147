import { type CommandWords, quoted, valueOptions } from './words.ts';

/** Returns a script that zsh can load from a folder of `fpath`, or read with `source`. */
export function zshScript(commands: readonly CommandWords[]): string {
  return `#compdef animal-store

_animal_store() {
  local at='' previous="\${words[CURRENT-1]}"
  local -a list
  integer i
  for ((i = 2; i < CURRENT; i++)); do
    case "\${words[i]}" in
      (${valueOptions(commands).join('|')}) ((i++)); continue ;;
    esac
    case "$at/\${words[i]}" in
${commands.flatMap(below).join('\n')}
    esac
  done
  case "$at/$previous" in
${commands.flatMap(valueBranches).join('\n')}
    (*/(${valueOptions(commands).join('|')})) _message value; return ;;
  esac
  case "$at" in
${commands.flatMap(wordBranches).join('\n')}
  esac
}

if [[ "\${funcstack[1]}" == _animal-store || "\${funcstack[1]}" == _animal_store ]]; then
  _animal_store "$@"
else
  compdef _animal_store animal-store
fi
`;
}

function below({ path, commands }: CommandWords): string[] {
  return commands.map(
    ({ name }) => `      (${quoted(`${path}/${name}`)}) at=${quoted(`${path} ${name}`.trim())} ;;`,
  );
}

function valueBranches({ path, options }: CommandWords): string[] {
  return options
    .filter(({ takesValue, words, areFiles }) => takesValue && (areFiles || words.length > 0))
    .map(({ names, words, areFiles }) => {
      const patterns = names.map((name) => quoted(`${path}/${name}`)).join('|');
      const action = areFiles
        ? '_files'
        : words.length > 0
          ? `compadd -- ${words.join(' ')}`
          : '_message value';
      return `    (${patterns}) ${action}; return ;;`;
    });
}

function wordBranches({ path, commands, options, values }: CommandWords): string[] {
  const described = options.flatMap(({ names, description }) => names.map((name) => item(name, description)));
  const words = [
    ...commands.map(({ name, description }) => item(name, description)),
    ...values.words.map((word) => item(word, '')),
  ];
  const other = values.areFiles ? '_files' : `list=(${words.join(' ')}); _describe command list`;
  return [
    `    (${quoted(path)})`,
    `      if [[ "$PREFIX" == -* ]]; then list=(${described.join(' ')}); _describe option list`,
    `      else ${other}; fi ;;`,
  ];
}

/** Formats a word and its description for `_describe`, which separates them by a colon. */
function item(word: string, description: string): string {
  return quoted(description === '' ? word : `${word}:${description.replaceAll(':', '\\:')}`);
}
