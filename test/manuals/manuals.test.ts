/** The README and the manuals are short, their links lead somewhere, and their code is run. */

import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Block, blocksOf, codeSpans, DOCUMENTS, MANUALS, ROOT, read, stagesOfApi } from './manuals.ts';

/** Manuals in which readers look things up. The others describe a task. */
const REFERENCE = ['api', 'operations', 'performance', 'reliability', 'security'].map(
  (name) => `docs/${name}.md`,
);

/** What `wc -w` counts. */
function wordsOf(text: string): number {
  return text.split(/\s+/).filter((word) => word !== '').length;
}

describe('length', () => {
  test('the README has at most 900 words in 130 lines', () => {
    const readme = read('README.md');
    expect(wordsOf(readme)).toBeLessThanOrEqual(900);
    expect(readme.split('\n').length - 1).toBeLessThanOrEqual(130);
  });

  test.each(MANUALS.filter((manual) => !REFERENCE.includes(manual)))(
    '%s describes a task in at most 900 words',
    (manual) => expect(wordsOf(read(manual))).toBeLessThanOrEqual(900),
  );

  test('each manual of reference exists', () => {
    expect(MANUALS).toEqual(expect.arrayContaining([...REFERENCE]));
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

describe('docs/run.md', () => {
  const sections = read('docs/run.md').split(/^## /m).slice(1);
  const QUESTIONS = 'leaked lost full memory exposed restart stale rotated upgrade PostgreSQL'.split(' ');

  test('has the ten questions of an operator', () => {
    const headings = sections.map((section) => section.split('\n', 1)[0] ?? '');
    expect(headings).toEqual(QUESTIONS.map((word) => expect.stringContaining(word)));
  });

  test.each(sections)('answers in five lines: %s', (section) => {
    const [, ...lines] = section.split('\n').filter((line) => line !== '');
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.length).toBeLessThanOrEqual(5);
    expect(lines.filter((line) => line.length > 170)).toEqual([]);
  });
});

test.each(DOCUMENTS)('%s links to files and headings that exist', (document) => {
  expect(brokenLinks(document)).toEqual([]);
});

test.each(['README.md', 'docs/architecture.md'])('%s names only modules that exist', (document) => {
  const spans = codeSpans(read(document)).filter((span) => /^[\w-]+(\/[\w-]+)+\.(ts|js)$/.test(span));
  const bases = ['', 'src', 'src/adapters'];
  expect(
    spans.filter((span) => bases.every((base) => globSync(join(ROOT, base, span)).length === 0)),
  ).toEqual([]);
});

test('the README lists the middleware of the API in its order', () => {
  const stages = stagesOfApi();
  const [, shown = ''] = /^```text\n(observe .*?)```$/ms.exec(read('README.md')) ?? [];
  expect(stages.length).toBeGreaterThan(9);
  expect(shown.split('>').map((text) => text.trim().replaceAll(/^\(your |\)$/g, ''))).toEqual(stages);
});

test('the tree of the README has every folder of adapters', () => {
  const [, tree = ''] = /^```text\n(bin\/.*?)```$/ms.exec(read('README.md')) ?? [];
  const folders = globSync('src/adapters/*/', { cwd: ROOT }).map((path) => `${basename(path)}/`);
  expect(folders.length).toBeGreaterThan(9);
  expect(folders.filter((folder) => !tree.includes(folder))).toEqual([]);
});

/** The blocks that a test runs, by document and language. The test reads the document itself. */
const RUNNERS: Readonly<Record<string, string>> = {
  'README.md sh': 'test/e2e/readme.test.ts',
  ...Object.fromEntries(
    ['data', 'integrate', 'keys', 'postgresql', 'repair'].map((name) => [
      `docs/${name}.md sh`,
      'test/e2e/manuals.test.ts',
    ]),
  ),
  'docs/upgrade.md nginx': 'test/faults/nginx.ts',
  'docs/adapter.md ts': 'test/package/checks/examples.ts',
  'docs/mounting.md ts': 'test/package/checks/examples.ts',
};
const JAVASCRIPT = 'test/library/examples.test.ts';

/** Returns the file of the test that runs a block, or `undefined` if the block is neither run nor marked. */
function runnerOf({ document, language, note }: Block): string | undefined {
  const [, named] = /^run by (\S+)$/.exec(note ?? '') ?? [];
  if (named !== undefined) return named;
  if (language === 'js' && (document === 'README.md' || MANUALS.includes(document))) return JAVASCRIPT;
  return RUNNERS[`${document} ${language}`];
}

describe('each block of code is run by a test, or is marked as not meant to run', () => {
  const blocks = DOCUMENTS.flatMap(blocksOf).filter(({ language }) => language !== 'text');

  test.each(blocks)('$document: $language $code', (block) => {
    if (/^not run: \S/.test(block.note ?? '')) return;
    const runner = runnerOf(block);
    expect(runner, 'a comment `<!-- run by FILE -->` or `<!-- not run: REASON -->` is missing').toBeDefined();
    const source = readFileSync(join(ROOT, runner ?? ''), 'utf8');
    expect(source).toMatch(
      runner === JAVASCRIPT ? "'docs/*.md'" : new RegExp(basename(block.document).replace('.', '\\.')),
    );
  });

  test('files that are named as a reason exist', () => {
    const named = blocks.flatMap(({ note = '' }) => note.match(/(?:test\/|\.ci\/)[\w./-]*\w/g) ?? []);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });
});
