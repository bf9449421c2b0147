/** Renames commands and paths that would collide with the name of the records of a new project. */

type Replacement = readonly [place: RegExp, other: string];

interface Noun {
  /** Replacements for all files, at the places where the noun is a command or a path. */
  readonly everywhere: readonly Replacement[];
  /** Replacements only for the files of the command line and for their tests. */
  readonly commandLine: readonly Replacement[];
}

const NOUNS: Readonly<Record<string, Noun>> = {
  keys: {
    everywhere: [
      [/\bkeys(?= (?:create|list|rotate|revoke)\b)/g, 'api-keys'],
      [/(?<=animal-store |help |\.\* )keys(?![\w-])/g, 'api-keys'],
    ],
    commandLine: [
      [/(?<=')keys(?=\|?'(?!, apiKeys))/g, 'api-keys'],
      [/(?<=[{,] )keys(?=: TOOL)/g, "'api-keys'"],
    ],
  },
  changes: {
    everywhere: [
      [/(?<=\/|animal-store |\.\* )changes(?![\w-]|\/|\.[tj]s)/g, 'feed'],
      [/(?<=[`' ])changes(?= --)/g, 'feed'],
    ],
    commandLine: [[/(?<=(?:\(|\[)')changes(?=')/g, 'feed']],
  },
};

const COMMAND_LINE = /(?:^|\/)(?:cli|composition|deploy|e2e)\//;

/** Returns the text of a file, in which a command or path with the name `plural` gets another name. */
export function withOtherNouns(text: string, path: string, plural: string): string {
  const noun = Object.hasOwn(NOUNS, plural) ? NOUNS[plural] : undefined;
  if (noun === undefined) return text;
  const replacements = [...noun.everywhere, ...(COMMAND_LINE.test(path) ? noun.commandLine : [])];
  return replacements.reduce((rest, [place, other]) => rest.replaceAll(place, other), text);
}
