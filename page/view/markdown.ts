/** Shows Markdown. The parser creates tokens, and this module creates elements: no text is parsed as HTML. */

import { marked, type Token, type Tokens } from 'marked';
import { slugOf } from '../reference.ts';
import type { Language } from '../samples/samples.ts';
import { codeBlock } from './code.ts';
import { el } from './dom.ts';
import { sampleTabs } from './samples.ts';
import type { Choices } from './state.ts';

/** A part of a Markdown text that starts with a heading of level two. */
export interface Guide {
  readonly title: string;
  readonly slug: string;
  readonly content: readonly Node[];
}

/** The languages of code blocks that belong together. The keys are the languages in Markdown. */
const LANGUAGES: Readonly<Record<string, Language>> = {
  sh: 'curl',
  js: 'JavaScript',
  'js fetch': 'fetch',
  python: 'Python',
  go: 'Go',
};

/** The base URL of the examples, which read another one from an environment variable. */
const EXAMPLE_URL = 'http://127.0.0.1:3000/v1';

/** Where the server has the programs that a manual links to. */
const PROGRAMS = 'docs/examples/';

/** Splits Markdown into an introduction and guides. Code blocks that follow each other are shown as one sample. */
export function guidesOf(
  text: string,
  baseUrl: string,
  choices: Choices,
): { introduction: Node[]; guides: Guide[] } {
  const introduction: Node[] = [];
  const guides: (Guide & { content: Node[] })[] = [];
  const samples: Tokens.Code[] = [];
  const add = (...nodes: Node[]) => (guides.at(-1)?.content ?? introduction).push(...nodes);
  const addSamples = () => {
    if (samples.length > 0) add(samplesOf(samples.splice(0), guides.at(-1), choices));
  };
  for (const token of marked.lexer(text)) {
    if (token.type === 'code') {
      const code = token as Tokens.Code;
      samples.push({ ...code, text: code.text.replaceAll(EXAMPLE_URL, baseUrl) });
    } else if (token.type !== 'space') {
      addSamples();
      if (token.type === 'heading' && token['depth'] === 2) {
        const title = String(token['text']);
        guides.push({ title, slug: slugOf(title), content: [] });
      } else {
        add(...block(token, guides.at(-1)?.slug ?? 'introduction'));
      }
    }
  }
  addSamples();
  return { introduction, guides };
}

/** Returns the nodes of one paragraph of Markdown. */
export function inlineMarkdown(text: string): Node[] {
  return marked.Lexer.lexInline(text).map(inline);
}

function block(token: Token, slug: string): Node[] {
  switch (token.type) {
    case 'space':
      return [];
    case 'paragraph':
      return isPicture(token) ? [] : [el('p', {}, ...inlineAll(token))];
    case 'list': {
      const { ordered, items } = token as Tokens.List;
      const rows = items.map(({ tokens }) => el('li', {}, ...tokens.flatMap((part) => itemPart(part, slug))));
      return [el(ordered ? 'ol' : 'ul', {}, ...rows)];
    }
    case 'code':
      return [codeBlock('sample', String(token['text']))];
    case 'table':
      return [table(token as Tokens.Table, slug)];
    default:
      return [el('p', {}, token.raw)];
  }
}

function isPicture(token: Token): boolean {
  return ((token as Tokens.Generic).tokens ?? []).every(({ type }) => type === 'image');
}

/** Returns the nodes of a part of a list item: text without a paragraph, or a block. */
function itemPart(token: Token, slug: string): Node[] {
  return token.type === 'text' ? inlineAll(token) : block(token, slug);
}

/** Creates the sample of a guide. A sample in one language has no tabs. */
function samplesOf(samples: readonly Tokens.Code[], guide: Guide | undefined, choices: Choices): HTMLElement {
  const { title, slug } = guide ?? { title: 'the API', slug: 'introduction' };
  const name = `sample of ${title}`;
  const codes = new Map(samples.map(({ lang = '', text }) => [LANGUAGES[lang], text]));
  const languages = Object.values(LANGUAGES).filter((language) => codes.has(language));
  if (languages.length < 2) return codeBlock(name, samples.map(({ text }) => text).join('\n'));
  return sampleTabs(name, slug, languages, (language) => codes.get(language) ?? '', choices);
}

/** Creates a table. A row whose first cell is a name in code has an id, such as `errors-not-found`. */
function table({ header, rows }: Tokens.Table, slug: string): HTMLElement {
  const head = header.map((cell) =>
    el('th', { scope: 'col', role: 'columnheader' }, ...cell.tokens.map(inline)),
  );
  const body = rows.map((cells) => {
    const [first] = cells[0]?.tokens ?? [];
    const id = first?.type === 'codespan' ? `${slug}-${slugOf(String(first['text']))}` : undefined;
    const columns = cells.map((cell, index) =>
      el('td', { role: 'cell', 'data-label': head[index]?.textContent ?? '' }, ...cell.tokens.map(inline)),
    );
    return el('tr', { id, role: 'row' }, ...columns);
  });
  // On a narrow window, each row is shown as a block. Without the roles, it would no longer be a row of a table.
  const element = el(
    'table',
    { role: 'table' },
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ...head)),
    el('tbody', { role: 'rowgroup' }, ...body),
  );
  return el(
    'div',
    { class: 'table', tabindex: '0', role: 'region', 'aria-label': `Table: ${slug}` },
    element,
  );
}

function inline(token: Token): Node {
  switch (token.type) {
    case 'codespan':
      return el('code', {}, String(token['text']));
    case 'strong':
      return el('strong', {}, ...inlineAll(token));
    case 'em':
      return el('em', {}, ...inlineAll(token));
    case 'link':
      return el('a', { href: safeTarget(String(token['href'])) }, ...inlineAll(token));
    // The policy of the page allows no other images than its own.
    case 'image':
      return new Text();
    case 'text':
    case 'escape':
      return new Text(String(token['text']));
    default:
      return new Text(token.raw);
  }
}

function inlineAll(token: Token): Node[] {
  return ((token as Tokens.Generic).tokens ?? []).map(inline);
}

/** Returns the target of a link on this page, and none for other manuals, which the page does not have. */
function safeTarget(target: string): string | undefined {
  if (target.startsWith('docs#')) return target.slice('docs'.length);
  if (target.startsWith('../examples/')) return target.replace('../examples/', PROGRAMS);
  return /^(?:https?:|#|\/)/.test(target) ? target : undefined;
}
