/** Finds the identifiers of a source file, and what each of them names. */

import ts from 'typescript';
import type { Style } from './rename.ts';

/**
 * An identifier in a file: a binding such as a variable or a type, a member of an object, or both, like `pet` in `{ pet }`. A
 * string literal of one word has the role `text`, because it can be the name of a table in the code of a database.
 */
export interface Occurrence {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  readonly role: 'binding' | 'member' | 'both' | 'text';
}

export interface Identifiers {
  readonly occurrences: readonly Occurrence[];
  /** The names that the file imports or exports. */
  readonly shared: ReadonlySet<string>;
  /** The names of the members of each object, class and type with several members. */
  readonly objects: readonly ReadonlySet<string>[];
  /** The relative paths in string literals, without the quotes. */
  readonly paths: readonly { readonly start: number; readonly text: string }[];
  /** Parts of the text, each with the style of its names, such as `camel`. The style of the other parts is `prose`. */
  readonly styled: readonly { readonly start: number; readonly end: number; readonly style: Style }[];
}

/** Matches the code of examples in comments. */
const EXAMPLE = /(?<=^ *\* ```ts\n).*?(?=^ *\* ```$)/gms;
const MARGIN = /^ *\*/gm;
const SQL =
  /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM|CREATE|ALTER TABLE|DROP|COPY|TRUNCATE|FROM|JOIN|LOCK TABLE|WHERE) /;

export function identifiersOf(path: string, text: string): Identifiers {
  let file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const occurrences: Occurrence[] = [];
  const shared = new Set<string>();
  const objects: ReadonlySet<string>[] = [];
  const paths: { start: number; text: string }[] = [];
  const styled: { start: number; end: number; style: Style }[] = [];
  let offset = 0;
  const startOf = (node: ts.Node): number => offset + node.getStart(file);
  const add = (node: ts.Node, name: string, role: Occurrence['role'], quotes = 0): void => {
    const [start, end] = [startOf(node) + quotes, offset + node.end - quotes];
    occurrences.push({ name, start, end, role });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node)) {
      add(node, node.text, roleOf(node));
      if (isShared(node)) shared.add(node.text);
    } else if (ts.isPrivateIdentifier(node)) add(node, node.text, 'member');
    else if (ts.isStringLiteralLike(node)) {
      if (/^\.{1,2}\//.test(node.text)) paths.push({ start: startOf(node) + 1, text: node.text });
      else if (/^[A-Za-z]\w*$/.test(node.text)) add(node, node.text, 'text', 1);
    }
    const isText =
      ts.isStringLiteralLike(node) || ts.isTemplateHead(node) || ts.isTemplateMiddleOrTemplateTail(node);
    if (isText && SQL.test(node.text))
      styled.push({ start: startOf(node), end: offset + node.end, style: 'snake' });
    // The range begins after the first slash of the regular expression, so that this slash is not read as a part of a path.
    if (ts.isRegularExpressionLiteral(node))
      styled.push({ start: startOf(node) + 1, end: offset + node.end, style: 'prose' });
    const members = membersOf(node);
    if (members.length > 1) objects.push(new Set(members.flatMap(nameOf)));
    ts.forEachChild(node, visit);
  };
  visit(file);
  for (const { 0: code, index } of text.matchAll(EXAMPLE)) {
    styled.push({ start: index, end: index + code.length, style: 'camel' });
    // Replaces the asterisks with spaces, so that the example is code and its positions stay the same.
    const example = code.replaceAll(MARGIN, (margin) => ' '.repeat(margin.length));
    file = ts.createSourceFile(path, example, ts.ScriptTarget.Latest, true);
    offset = index;
    visit(file);
  }
  return { occurrences, shared, objects, paths, styled };
}

function roleOf(node: ts.Identifier): Occurrence['role'] {
  const { parent } = node;
  if (ts.isShorthandPropertyAssignment(parent) && parent.name === node) return 'both';
  if (ts.isBindingElement(parent)) {
    if (parent.propertyName === node) return 'member';
    const isShort = parent.propertyName === undefined && parent.dotDotDotToken === undefined;
    return parent.name === node && isShort && ts.isObjectBindingPattern(parent.parent) ? 'both' : 'binding';
  }
  const isMember =
    ts.isPropertyAccessExpression(parent) ||
    ts.isPropertyAssignment(parent) ||
    ts.isClassElement(parent) ||
    ts.isTypeElement(parent) ||
    ts.isEnumMember(parent);
  return isMember && parent.name === node ? 'member' : 'binding';
}

/** Whether other files can use the name. */
function isShared({ parent }: ts.Identifier): boolean {
  if (ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent) || ts.isQualifiedName(parent)) return true;
  const statement = ts.isVariableDeclaration(parent) ? parent.parent.parent : parent;
  const isExport = (each: ts.ModifierLike) => each.kind === ts.SyntaxKind.ExportKeyword;
  return ts.canHaveModifiers(statement) && (ts.getModifiers(statement)?.some(isExport) ?? false);
}

function membersOf(node: ts.Node): readonly ts.Node[] {
  if (ts.isObjectLiteralExpression(node)) return node.properties;
  if (ts.isTypeLiteralNode(node) || ts.isInterfaceDeclaration(node) || ts.isClassLike(node))
    return node.members;
  if (ts.isUnionTypeNode(node)) return node.types;
  return ts.isObjectBindingPattern(node) ? node.elements : [];
}

/**
 * Returns the name of a member. A string literal in a union counts as a member only if it is capitalized: it then names a schema,
 * whose type is declared in another file.
 */
function nameOf(member: ts.Node): string[] {
  if (ts.isLiteralTypeNode(member) && ts.isStringLiteral(member.literal))
    return /^[A-Z]/.test(member.literal.text) ? [member.literal.text] : [];
  const { name, propertyName } = member as { name?: ts.Node; propertyName?: ts.Node };
  const node = propertyName ?? name;
  return node !== undefined && (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) ? [node.text] : [];
}
