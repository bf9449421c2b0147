/** The words that cannot become the name of an entity, because the project, its languages or its databases use them. */

import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** Words that SQLite or PostgreSQL reserve: a table or a column with such a name would have to be quoted. */
const SQL = `abort action add after all alter always analyse analyze and any array as asc asymmetric attach authorization
  autoincrement before begin between binary both by cascade case cast check collate collation column commit concurrently
  conflict constraint create cross current database default deferrable deferred delete desc detach distinct do drop each else
  end escape except exclude exclusive exists explain fail false fetch filter first following for foreign freeze from full
  generated glob grant group groups having if ignore ilike immediate in index indexed initially inner insert instead intersect
  into is isnull join key last lateral leading left like limit localtime localtimestamp match materialized natural no not
  nothing notnull null nulls of offset on only or order others outer over overlaps partition placing plan pragma preceding
  primary query raise range recursive references regexp reindex release rename replace restrict returning right rollback row
  rows savepoint select similar some symmetric system table tablesample temp temporary then ties to trailing transaction trigger
  true unbounded union unique update user using vacuum values variadic verbose view virtual when where window with without`;

const RESERVED: ReadonlySet<string> = new Set(SQL.split(/\s+/));

/** A file of the project: its path below the root, and its text. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** Returns why a word cannot be used, or `undefined`. */
export function refusalOf(word: string, used: ReadonlyMap<string, string>): string | undefined {
  const capital = word.slice(0, 1).toUpperCase() + word.slice(1);
  if (KEYWORDS.has(word)) return 'is a keyword of JavaScript or TypeScript';
  if (RESERVED.has(word)) return 'is a keyword of SQL';
  if (GLOBALS.has(word) || GLOBALS.has(capital)) return 'is a global of Node.js or of browsers';
  const where = used.get(word);
  return where === undefined ? undefined : `is a name that this project already uses, in ${where}`;
}

/**
 * Returns the words of all identifiers, files and columns, each with a file that uses it: `categoryId` has the words
 * `category` and `id`.
 */
export function wordsOf(files: readonly SourceFile[]): ReadonlyMap<string, string> {
  const words = new Map<string, string>();
  for (const { path, text } of files) {
    const names = [...path.split('/'), ...(/\.[cm]?[jt]s$/.test(path) ? identifiersOf(text) : [])];
    for (const name of names) {
      for (const [word] of name.matchAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g)) {
        if (!words.has(word.toLowerCase())) words.set(word.toLowerCase(), path);
      }
    }
  }
  return words;
}

/** Comments and messages are prose. Of strings, only the names in definitions of tables count. */
function identifiersOf(text: string): string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.push(node.text);
    else if (isText(node) && /\b(?:CREATE|ALTER) (?:TABLE|INDEX|UNIQUE)\b/.test(node.text)) {
      names.push(...node.text.split(/\W+/));
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest));
  return names;
}

function isText(node: ts.Node): node is ts.StringLiteral | ts.TemplateLiteralLikeNode {
  return ts.isStringLiteral(node) || ts.isTemplateLiteralToken(node) || ts.isTemplateHead(node);
}

const KEYWORDS: ReadonlySet<string> = new Set(
  Array.from(
    { length: ts.SyntaxKind.LastKeyword - ts.SyntaxKind.FirstKeyword + 1 },
    (_, index) => ts.tokenToString(ts.SyntaxKind.FirstKeyword + index) ?? '',
  ),
);

const GLOBALS: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(globalThis),
  ...[...domText().matchAll(/^(?:declare (?:var|function|const)|interface) (\w+)/gm)].map(
    ([, name]) => name ?? '',
  ),
]);

function domText(): string {
  return readFileSync(new URL('lib.dom.d.ts', import.meta.resolve('typescript')), 'utf8');
}
