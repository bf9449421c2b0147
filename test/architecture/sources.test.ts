/** Checks rules about decorators, casts, the environment and connections, which imports do not show, in the syntax trees. */

import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
type Finder = (node: ts.Node) => boolean;

const isDecorator: Finder = (node) => ts.isDecorator(node);

/** Finds `process.env`, `process['env']`, `const { env } = process` and an import of `env` from `node:process`. */
const readsEnvironment: Finder = (node) => {
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && node.name.text === 'env';
  if (ts.isElementAccessExpression(node)) return isProcess(node.expression);
  if (ts.isVariableDeclaration(node)) return node.initializer !== undefined && isProcess(node.initializer);
  return (
    ts.isImportDeclaration(node) && /^(node:)?process$/.test((node.moduleSpecifier as ts.StringLiteral).text)
  );
};

function isProcess(node: ts.Node): boolean {
  const isNamed = ts.isIdentifier(node) || ts.isPropertyAccessExpression(node);
  return isNamed && /^(globalThis\.)?process$/.test(node.getText());
}

/** The modules that can open connections or start processes, and what the server uses of them. */
const NETWORK = /^(node:)?(child_process|dgram|dns|http|http2|https|net|tls)(\/|$)/;
const PASSIVE =
  /^(createServer|STATUS_CODES|Server|Socket|BlockList|isIP|isIPv4|isIPv6|validateHeader(Name|Value)|ServerResponse)$/;

/** Finds `fetch` and other globals, `connect` and `require`, and imports of modules that can open connections. */
const opensConnection: Finder = (node) => {
  if (ts.isImportDeclaration(node)) {
    const { text } = node.moduleSpecifier as ts.StringLiteral;
    const clause = node.importClause;
    if (!NETWORK.test(text) || clause?.phaseModifier === ts.SyntaxKind.TypeKeyword) return text === 'undici';
    const bindings = clause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings) || clause?.name !== undefined) return true;
    return bindings.elements.some(
      ({ isTypeOnly, name, propertyName }) => !isTypeOnly && !PASSIVE.test((propertyName ?? name).text),
    );
  }
  if (!ts.isCallExpression(node) && !ts.isNewExpression(node)) return false;
  const [argument] = node.arguments ?? [];
  if (node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return argument === undefined || !ts.isStringLiteral(argument) || NETWORK.test(argument.text);
  }
  return /^((globalThis\.)?(fetch|WebSocket|EventSource)|.*\.connect|(process\.)?getBuiltinModule)$/s.test(
    node.expression.getText(),
  );
};

const startsProcess: Finder = (node) => ts.isStringLiteral(node) && /^(node:)?child_process$/.test(node.text);

/** Finds `x as unknown as T` and `<T>(<unknown>x)`, with parentheses or without: such a cast hides any mistake. */
const castsThroughUnknown: Finder = (node) => {
  if (!ts.isAsExpression(node) && !ts.isTypeAssertionExpression(node)) return false;
  let inner = node.expression;
  while (ts.isParenthesizedExpression(inner)) inner = inner.expression;
  if (!ts.isAsExpression(inner) && !ts.isTypeAssertionExpression(inner)) return false;
  return inner.type.kind === ts.SyntaxKind.UnknownKeyword;
};

/** Finds `instanceof` with errors and bytes: it is false for objects of another realm, as in Jest and `node:vm`. */
const dependsOnRealm: Finder = (node) =>
  ts.isBinaryExpression(node) &&
  node.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword &&
  /^(globalThis\.)?(Error|TypeError|DOMException|Uint8Array|ArrayBuffer)$/.test(node.right.getText());

function nodesOf(text: string): ts.Node[] {
  const nodes: ts.Node[] = [ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true)];
  for (const node of nodes) ts.forEachChild(node, (child) => void nodes.push(child));
  return nodes;
}

function has(text: string, find: Finder): boolean {
  return nodesOf(text).some(find);
}

/** The nodes of the syntax tree of each file. Parsing takes most of the time of these tests. */
const sources = globSync('{page,src}/**/*.ts', { cwd: ROOT }).map(
  (file) => [file, nodesOf(readFileSync(join(ROOT, file), 'utf8'))] as const,
);

type Rule = readonly [what: string, find: Finder, files: readonly string[], examples: string];

/** The rules, each with the files that are exceptions, and with examples of what is forbidden. */
const RULES: readonly Rule[] = [
  ['a decorator', isDecorator, [], '@x class A {} | class A { @x() b = 1 }'],
  ['another process', startsProcess, [], "await import('child_process')"],
  [
    'the environment',
    readsEnvironment,
    ['src/main.ts'],
    `f(process.env) | process['env'] | const { env } = process | import { env } from 'node:process' | globalThis.process.env.HOME`,
  ],
  [
    'an outgoing connection',
    opensConnection,
    [
      'page/main.ts',
      'page/view/response.ts',
      'src/adapters/api-client/request.ts',
      'src/adapters/postgres/connection-pool.ts',
      'src/composition/commands.ts',
    ],
    `globalThis.fetch(url) | new Socket().connect(80) | import { connect as isIP } from 'node:net' |
     import http, { type Server } from 'http' | import * as tls from 'node:tls' | await import(name)`,
  ],
  [
    'a cast through unknown',
    castsThroughUnknown,
    [],
    'a as unknown as B | (a as unknown) as B | f(<B>(<unknown>a)) | (await a) as unknown as () => void',
  ],
  [
    'a realm',
    dependsOnRealm,
    ['src/domain/errors.ts'],
    'a instanceof Error | f(a) && !(b instanceof globalThis.DOMException) | a instanceof Uint8Array',
  ],
];

describe.each(RULES)('%s', (_what, find, files, examples) => {
  test('is in no other file than those that need it', () => {
    expect(sources.length).toBeGreaterThan(30);
    const found = sources.filter(([, nodes]) => nodes.some(find));
    expect(found.map(([file]) => file).toSorted()).toEqual(files);
  });

  test('is found, and nothing else', () => {
    for (const text of examples.split(' |')) expect(has(text, find), text).toBe(true);
    for (const text of [
      'f(process.argv)',
      '"@x process.env container"',
      '// @x process.env',
      'class A { b = env }',
      "import { createServer, type Agent } from 'node:http'",
      "import type { connect } from 'node:net'",
      '// fetch(url)',
      'f(a as unknown, b as B)',
      'a instanceof AnimalStoreError && isError(b)',
      'f((a as B) as C) // as unknown as B',
    ])
      expect(has(text, find), text).toBe(false);
  });
});
