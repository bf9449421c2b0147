import { expect, test } from 'vitest';
import { pruned } from '../../scripts/new/prune.ts';

/** Returns the lines that are left of `main.ts`, where `gone.ts` does not exist. */
function left(text: string, others: Readonly<Record<string, string>> = {}): string[] {
  const modules = new Map(Object.entries({ 'src/main.ts': text, ...others }));
  const kept = pruned(modules, (path) => path === 'src/main.ts');
  return (kept.get('src/main.ts') ?? '').split('\n').filter((line) => line.trim() !== '');
}

test.each([
  ['an element of a list', 'export const all = [', '  a,', '];'],
  ['a row of a table', 'export const all = [', "  ['a', a],", '];'],
  ['a member of an object', 'export const all = {', '  b: a,', '};'],
  ['an option of a test', "test('b', () => {", '  c({ ...a });', '});'],
  ['a statement', 'export function run() {', '  a();', '}'],
  ['a condition with what it decides', 'export function run() {', '  if (a) throw new Error();', '}'],
  ['a member of an interface', 'export interface All {', '  readonly b?: A | undefined;', '}'],
  ['a member of a union', 'export type All =', "  | 'b'", '  | A;'],
])('%s is left out', (_, start, line, end) => {
  const rest = left(`import { type A, a } from './gone.ts';\n${start}\n${line}\n${end}`);
  expect(rest.join(' ').replace(/\s*;$/, '')).not.toMatch(/\b[aA]\b/);
  expect(rest[0]).toBe(start);
});

test('what needs something that is left out is left out, too, also across modules', () => {
  const text = [
    "import { b } from './b.ts';",
    'const c = b;',
    'function d() { return c; }',
    'd();',
    "export const e = 'e';",
  ];
  expect(left(text.join('\n'), { 'src/b.ts': "export { a as b } from './gone.ts';" })).toEqual([
    "export const e = 'e';",
  ]);
});

test('a member that no type has any more is left out where it is used, and a test that tries it', () => {
  const types = {
    'src/store.ts':
      "import type { A } from './gone.ts';\nexport interface Store {\n  readonly gone: A;\n  readonly kept: 1;\n}",
  };
  const text = [
    "import type { Store } from './store.ts';",
    'export function run(store: Store) {',
    '  const { gone, kept } = store;',
    '  return { kept, ...(gone && { gone }) };',
    '}',
  ];
  expect(left(text.join('\n'), types).map((line) => line.trim())).toEqual([
    text[0],
    text[1],
    'const { kept } = store;',
    'return { kept, };',
    '}',
  ]);
});

test('what nobody uses any more is left out: imports, declarations, exports and modules', () => {
  const modules = new Map([
    [
      'src/main.ts',
      "import { a } from './gone.ts';\nimport { b } from './b.ts';\nexport const all = [b, a(help)];\nfunction help() {}",
    ],
    ['src/b.ts', "import { c } from './c.ts';\nexport const b = 1;\nexport const other = c;"],
    ['src/c.ts', 'export const c = 1;'],
  ]);
  const kept = pruned(modules, (path) => path === 'src/main.ts');
  expect([...kept.keys()]).toEqual(['src/main.ts', 'src/b.ts']);
  expect(kept.get('src/main.ts')).not.toContain('help');
  expect(kept.get('src/b.ts')?.trim()).toBe('export const b = 1;');
});
