/** Renames the sample pets, and the commands and paths that would collide with the plural of the new project's entity. */

type Replacement = readonly [place: RegExp, other: string];

/** Replacements for all files, at the places where `changes` is a command or a path. */
const CHANGES: readonly Replacement[] = [
  [/(?<=\/|animal-store |\.\* )changes(?![\w-]|\/|\.[tj]s)/g, 'feed'],
  [/(?<=[`' ])changes(?= --)/g, 'feed'],
];

/** Replacements only for the files of the command line and for their tests. */
const COMMANDS: readonly Replacement[] = [[/(?<=(?:\(|\[)')changes(?=')/g, 'feed']];

/** Replacements for the names of sample pets. In tests, a replacement is as long as the name that it replaces. */
const SAMPLES: readonly Replacement[] = [
  [/(?<=^const OTHER_TEXT = ')[^']+/gm, 'Another'],
  [/(?<=with|(?<![A-Za-z]))Rex(?![a-z])/g, 'One'],
  [/(?<![A-Za-z])rex(?![A-Za-z])/g, 'one'],
  [/(?<![A-Z])REX(?![A-Z])/g, 'ONE'],
  [/(?<![A-Z])MINKA/g, 'OTHER'],
  [/Минька/gu, 'Пример'],
  [/🐈(?!\u200d)/gu, '📦'],
];

const COMMAND_LINE = /(?:^|\/)(?:cli|composition|deploy|e2e)\//;

/** Replaces the names of sample pets in a text. If `plural` is `changes`, renames the command and the path `changes`. */
export function withOtherNouns(text: string, path: string, plural: string): string {
  const isCommandLine = COMMAND_LINE.test(path);
  const changes = plural === 'changes' ? [...CHANGES, ...(isCommandLine ? COMMANDS : [])] : [];
  return [...SAMPLES, ...changes].reduce((rest, [place, other]) => rest.replaceAll(place, other), text);
}
