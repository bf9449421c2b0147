import { Argument, type Command, type Option } from 'commander';
import type { CommandOptions } from '../options.ts';

/**
 * The completion script of each shell. It asks `animal-store` for the words that can follow. If there are none, the shell completes
 * file names, except after `--option=` in fish.
 */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# Completes the command animal-store.
_animal_store() {
  local words="$(animal-store completion bash -- "\${COMP_WORDS[@]:0:$COMP_CWORD}" 2>/dev/null)"
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]#=}"))
}
complete -o default -F _animal_store animal-store
`,
  // If the script is a file in `fpath`, zsh runs it on the first Tab as the function `_animal-store`. The last line detects this.
  zsh: `#compdef animal-store
_animal_store() {
  local -a before=("\${(@Q)words[1,CURRENT-1]}") found
  compset -P '--*=' && before+=("\${\${words[CURRENT]}%%=*}")
  found=("\${(@f)$(animal-store completion zsh -- "$before[@]" 2>/dev/null)}")
  compadd -a found || _files
}
if [[ "$funcstack[1]" = _animal-store ]]; then _animal_store; else compdef _animal_store animal-store; fi
`,
  // fish compares each suggestion with the whole argument, such as `--status=p`, so the script prepends `--status=`.
  fish: `# Completes the command animal-store.
function __animal_store
  set -l flag (string match -r -- '^--[a-z-]+=' (commandline -ct))
  set -l words (animal-store completion fish -- (commandline -opc) (string trim -rc = -- $flag) 2>/dev/null)
  string join \\n -- "$flag"$words
  string match -qrv '^-' -- $words; or test -n "$flag"; or __fish_complete_path (commandline -ct)
end
complete -c animal-store -f -a '(__animal_store)'
`,
};

export function defineCompletion(program: Command, { console }: CommandOptions): void {
  const places =
    'bash: source <(animal-store completion bash) in ~/.bashrc; zsh: save the script as _animal-store in a folder of fpath; fish: save it as ~/.config/fish/completions/animal-store.fish';
  program
    .command('completion')
    .description('print a script that completes commands and options in a shell')
    .addArgument(new Argument('<shell>', places).choices(Object.keys(SCRIPTS)))
    .argument('[words...]', 'for the script: the words of a command line so far')
    .action((shell: string, words: readonly string[]) => {
      const found = words.length > 0 ? wordsAfter(program, words.slice(1)) : undefined;
      return console.out(found?.map((word) => `${word}\n`).join('') ?? SCRIPTS[shell] ?? '');
    });
}

/** Returns the words that can follow the given words. Ignores each word `=`: Bash splits `--status=p` into three words. */
function wordsAfter(program: Command, words: readonly string[]): readonly string[] {
  let command = program;
  let value: Option | undefined;
  for (const word of words.filter((text) => text !== '=')) {
    const option = optionsOf(command).find(({ long }) => word === long);
    const child = value === undefined && command.commands.find((each) => each.name() === word);
    value = value === undefined && option?.required ? option : undefined;
    command = child || command;
  }
  if (value !== undefined) return value.argChoices ?? [];
  const names = command.commands.map((child) => child.name());
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  return [...names, ...choices, ...optionsOf(command).map(({ long }) => long ?? '')];
}

function optionsOf(command: Command): readonly Option[] {
  const help = command.createHelp();
  return [...help.visibleOptions(command), ...help.visibleGlobalOptions(command)];
}
