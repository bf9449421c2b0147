/** Renames the sample pets, and the commands and paths that would collide with the plural of the new project's entity. */

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

/** Replacements of the same length for the names of sample pets. */
const SAMPLES: readonly Replacement[] = [
  [/(?<=with|(?<![A-Za-z]))Rex(?![a-z])/g, 'One'],
  [/(?<![A-Za-z])rex(?![A-Za-z])/g, 'one'],
  [/(?<![A-Z])REX(?![A-Z])/g, 'ONE'],
  [/(?<![A-Z])MINKA/g, 'OTHER'],
  [/Минька/gu, 'Пример'],
  [/🐈(?!\u200d)/gu, '📦'],
];

const COMMAND_LINE = /(?:^|\/)(?:cli|composition|deploy|e2e)\//;

/** Replaces the names of sample pets in a text. A command or path with the name `plural` gets another name. */
export function withOtherNouns(text: string, path: string, plural: string): string {
  const noun = Object.hasOwn(NOUNS, plural) ? NOUNS[plural] : undefined;
  const commandLine = COMMAND_LINE.test(path) ? (noun?.commandLine ?? []) : [];
  const replacements = [...SAMPLES, ...(noun?.everywhere ?? []), ...commandLine];
  return replacements.reduce((rest, [place, other]) => rest.replaceAll(place, other), text);
}
