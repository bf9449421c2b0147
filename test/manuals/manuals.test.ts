/** The README and the manuals are short, ask questions, have links that lead somewhere, and code that is run. */

import { existsSync, globSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  type Block,
  blocksOf,
  codeSpans,
  DECISIONS,
  DOCUMENTS,
  MANUALS,
  ROOT,
  read,
  wordsOf,
} from './manuals.ts';

describe('length', () => {
  test('the README has at most 900 words in 130 lines', () => {
    const readme = read('README.md');
    expect(wordsOf(readme)).toBeLessThanOrEqual(900);
    expect(readme.split('\n').length - 1).toBeLessThanOrEqual(130);
  });

  test('the manuals have at most 12,500 words', () => {
    expect(wordsOf(MANUALS.map(read).join('\n'))).toBeLessThanOrEqual(12_500);
  });

  test.each(DECISIONS)('%s has half a page', (decision) => {
    expect(wordsOf(read(decision))).toBeLessThanOrEqual(300);
  });
});

/** Returns the name that GitHub gives to a heading in links. */
function anchorOf(heading: string): string {
  const plain = heading.replaceAll(/[`*]|\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return plain.replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
}

/** Returns the relative links of a document that lead to no file, or to no heading. */
function brokenLinks(document: string): string[] {
  const text = read(document).replaceAll(/^ *```.*?^ *```$/gms, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  return links.filter((link) => {
    if (/^(https?|mailto):/.test(link)) return false;
    const [path = '', anchor] = link.split('#');
    const file = path === '' ? document : join(dirname(document), path);
    if (!existsSync(join(ROOT, file))) return true;
    if (anchor === undefined || !file.endsWith('.md')) return false;
    const headings = [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading));
    return !headings.includes(anchor);
  });
}

test.each(DOCUMENTS)('%s links to files and headings that exist', (document) => {
  expect(brokenLinks(document)).toEqual([]);
});

test('each manual is linked from the README, or from a manual that is', () => {
  const linksOf = (document: string) =>
    [...read(document).matchAll(/\]\(([^)#\s]+\.md)/g)].map(([, link = '']) => join(dirname(document), link));
  const known = linksOf('README.md');
  const reached = new Set([...known, ...known.filter((path) => MANUALS.includes(path)).flatMap(linksOf)]);
  expect(MANUALS.filter((manual) => !reached.has(manual))).toEqual([]);
});

test('each example is linked from a manual', () => {
  const files = globSync('examples/**/*.{go,js,py,sh,ts}', { cwd: ROOT });
  // An example of a generated client has further files, and the tests of clients generate types.
  const examples = files.filter((path) => !/generated\/openapi-(fetch-types|ts)\b|\.d\.ts$/.test(path));
  expect(examples.length).toBeGreaterThan(15);
  const links = MANUALS.map(read).join('\n');
  expect(examples.filter((path) => !links.includes(`](../${path})`))).toEqual([]);
});

test('files that are not manuals name only manuals that exist', () => {
  const files = globSync('{deploy,examples,openapi,page,scripts,src}/**/*', {
    cwd: ROOT,
    withFileTypes: true,
    // These name the manuals of a new project.
    exclude: (entry) => entry.parentPath.endsWith('scripts/new') && entry.name === 'files',
  })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(ROOT.length + 1))
    .concat('docs/alerts.yml');
  const named = files.flatMap((file) =>
    [...read(file).matchAll(/\bdocs\/[\w./-]+?\.md\b/g)].map(([path]) => ({ file, path })),
  );
  expect(named.length).toBeGreaterThan(5);
  expect(named.filter(({ path }) => !existsSync(join(ROOT, path)))).toEqual([]);
});

test.each(['README.md', 'CONTRIBUTING.md', ...MANUALS])(
  '%s names only modules and tests that exist',
  (document) => {
    const spans = codeSpans(read(document)).filter((span) =>
      /^[\w-]+(\/[\w-]+)+(\.[\w-]+)*\.(ts|js)$/.test(span),
    );
    const bases = ['', 'src', 'src/adapters'];
    expect(spans.filter((span) => bases.every((base) => !existsSync(join(ROOT, base, span))))).toEqual([]);
  },
);

test('the README lists the middleware of the API in its order', () => {
  const source = read('src/adapters/http/app.ts');
  const [, list = ''] = /const stages: readonly ApiMiddleware\[\] = \[\n(.*?)\n {2}\];/s.exec(source) ?? [];
  const found = list.matchAll(/^ {4}(?:\.{3}\(middleware\?\.(\w+)|(?:\.{3}\(.* \? \[)?([\w.]+))/gm);
  const stages = [...found].map(([, own, name = '']) => own ?? name);
  const [, shown = ''] = /^```text\n(closeLast .*?)```$/ms.exec(read('README.md')) ?? [];
  expect(stages.length).toBeGreaterThan(8);
  expect(shown.split('>').map((text) => text.trim().replaceAll(/^\(your |\)$/g, ''))).toEqual(stages);
});

test('the tree of the README has every folder of src and of its adapters', () => {
  const [, tree = ''] = /^```text\n(bin\/.*?)```$/ms.exec(read('README.md')) ?? [];
  const folders = globSync('{src,src/adapters}/*/', { cwd: ROOT }).map((path) => `${basename(path)}/`);
  expect(folders.length).toBeGreaterThan(10);
  expect(folders.filter((folder) => !tree.includes(folder))).toEqual([]);
  const shown = tree.match(/[\w-]+(?=\/(?:\s|$))/gm) ?? [];
  const bases = ['', 'src', 'src/adapters', 'src/application'];
  expect(shown.filter((name) => bases.every((base) => !existsSync(join(ROOT, base, name))))).toEqual([]);
});

test.each(globSync('docs/images/*', { cwd: ROOT }))('%s is described, and shown in one manual', (path) => {
  expect(read(path)).toMatch(/<title>[^<]{40,}<\/title>/);
  expect(MANUALS.filter((manual) => read(manual).includes(`](images/${basename(path)})`))).toHaveLength(1);
});

/** The blocks that a test runs, by document and language. The test reads the document itself. */
const RUNNERS: Readonly<Record<string, string>> = {
  'README.md sh': 'test/e2e/manuals.test.ts',
  'README.md js': 'test/library/examples.test.ts',
  ...runBy('test/e2e/manuals.test.ts', 'sh', 'api data postgresql serve watch'),
  ...runBy('test/library/examples.test.ts', 'js', 'client embedding mounting'),
  ...runBy('test/package/checks/examples.ts', 'ts', 'adapter mounting'),
};

function runBy(file: string, language: string, manuals: string): Readonly<Record<string, string>> {
  return Object.fromEntries(manuals.split(' ').map((name) => [`docs/${name}.md ${language}`, file]));
}

/** Returns the file of the test that runs a block, or `undefined` if the block is neither run nor marked. */
function runnerOf({ document, language, note }: Block): string | undefined {
  return /^run by (\S+)$/.exec(note ?? '')?.[1] ?? RUNNERS[`${document} ${language}`];
}

describe('each block of code is run by a test, or is marked as not meant to run', () => {
  const blocks = DOCUMENTS.flatMap(blocksOf).filter(({ language }) => language !== 'text');

  test.each(blocks)('$document: $language $code', (block) => {
    if (/^not run: \S/.test(block.note ?? '')) return;
    const runner = runnerOf(block);
    expect(runner, 'a comment `<!-- run by FILE -->` or `<!-- not run: REASON -->` is missing').toBeDefined();
    expect(read(runner ?? '')).toMatch(
      new RegExp(`'(docs/\\*|${basename(block.document, '.md')})\\.md'|${block.document}`),
    );
  });

  test('files that are named as a reason exist', () => {
    const named = blocks.flatMap(({ note = '' }) => note.match(/(?:test\/|\.ci\/)[\w./-]*\w/g) ?? []);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});
