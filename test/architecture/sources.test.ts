/** Checks rules about decorators, the environment and the container, which imports do not show, in the syntax trees. */

import { globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';

const SOURCES = resolve(import.meta.dirname, '../../src');
const files = globSync('**/*.ts', { cwd: SOURCES });

/** Returns whether a node of the syntax tree matches. */
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
  return /^(globalThis\.)?process$/.test(node.getText());
}

const usesContainer: Finder = (node) =>
  ts.isIdentifier(node) && /^(container|DependencyContainer|createChildContainer|Reflect)$/.test(node.text);

function has(text: string, find: Finder): boolean {
  const visit = (node: ts.Node): boolean =>
    find(node) || (ts.forEachChild(node, (child) => visit(child) || undefined) ?? false);
  return visit(ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true));
}

function filesWith(find: Finder): string[] {
  return files.filter((file) => has(readFileSync(join(SOURCES, file), 'utf8'), find));
}

describe('in the sources', () => {
  test('there are no decorators', () => {
    expect(files.length).toBeGreaterThan(30);
    expect(filesWith(isDecorator)).toEqual([]);
  });

  test('only main.ts reads the environment', () => {
    expect(filesWith(readsEnvironment)).toEqual(['main.ts']);
  });

  test('only the folder composition/ uses the container', () => {
    const users = filesWith(usesContainer);
    expect(users).toContain('composition/container.ts');
    expect(users.filter((file) => !file.startsWith('composition/'))).toEqual([]);
  });

  test.each([
    ['a decorator', isDecorator, ['@x class A {}', 'class A { @x() b = 1 }', 'class A { @x b() {} }']],
    [
      'the environment',
      readsEnvironment,
      [
        'f(process.env)',
        "process['env']",
        'const { env } = process',
        "import { env } from 'node:process'",
        'globalThis.process.env.HOME',
      ],
    ],
    ['the container', usesContainer, ['container.resolve(x)', 'Reflect.getMetadata(x)']],
  ] as const)('%s is found, and nothing else', (_case, find, examples) => {
    for (const text of examples) expect(has(text, find), text).toBe(true);
    for (const text of [
      'f(process.argv)',
      '"@x process.env container"',
      '// @x process.env',
      'class A { b = env }',
    ]) {
      expect(has(text, find), text).toBe(false);
    }
  });
});
