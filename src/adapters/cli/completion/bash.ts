import { type CommandWords, quoted, valueOptions } from './words.ts';

/** The end of each branch: bash shows only the words that start with the current one. */
const MATCH = 'COMPREPLY=($(compgen -W "$list" -- "$current"))';

/**
 * Returns a script for bash 3.2 or later. Bash splits a word at `=` and `:`, so `--status=sold` and a database URL are
 * several words.
 */
export function bashScript(commands: readonly CommandWords[]): string {
  return `_animal_store_files() {
  local name
  compopt -o filenames 2>/dev/null
  while IFS= read -r name; do COMPREPLY+=("$name"); done < <(compgen -f -- "$1")
}

_animal_store() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" at='' list='' i
  COMPREPLY=()
  if [[ $current == '=' ]]; then current=''
  elif [[ $previous == '=' ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "\${COMP_WORDS[i]}" in
      ${valueOptions(commands).join('|')}) ((i++)); continue ;;
    esac
    case "$at/\${COMP_WORDS[i]}" in
${commands.flatMap(below).join('\n')}
    esac
  done
  case "$at/$previous" in
${commands.flatMap(valueBranches).join('\n')}
    ${anyOf(valueOptions(commands))}) return ;;
  esac
  case "$at" in
${commands.flatMap(wordBranches).join('\n')}
  esac
  ${MATCH}
}

complete -F _animal_store animal-store
`;
}

function below({ path, commands }: CommandWords): string[] {
  return commands.map(
    ({ name }) => `      ${quoted(`${path}/${name}`)}) at=${quoted(`${path} ${name}`.trim())} ;;`,
  );
}

function valueBranches({ path, options }: CommandWords): string[] {
  return options
    .filter(({ takesValue, words, areFiles }) => takesValue && (areFiles || words.length > 0))
    .map(({ names, words, areFiles }) => {
      const patterns = names.map((name) => quoted(`${path}/${name}`)).join('|');
      const action = areFiles
        ? '_animal_store_files "$current"'
        : `list=${quoted(words.join(' '))}; ${MATCH}`;
      return `    ${patterns}) ${action}; return ;;`;
    });
}

function wordBranches({ path, commands, options, values }: CommandWords): string[] {
  const names = options.flatMap((option) => option.names);
  const words = [...commands.map(({ name }) => name), ...values.words];
  const other = values.areFiles
    ? '_animal_store_files "$current"; return'
    : `list=${quoted(words.join(' '))}`;
  return [
    `    ${quoted(path)})`,
    `      if [[ $current == -* ]]; then list=${quoted(names.join(' '))}; else ${other}; fi ;;`,
  ];
}

/** Returns a pattern for an option after any command. */
function anyOf(names: readonly string[]): string {
  return names.map((name) => `*/${name}`).join('|');
}
