/** Shows Markdown. The parser creates tokens, and this module creates elements, so text is never parsed as HTML. */

import { marked, type Token, type Tokens } from 'marked';
import { slugOf } from '../reference.ts';
import { codeBlock } from './code.ts';
import { el } from './dom.ts';

/** The part of a Markdown text under a heading of level two. */
export interface Guide {
  readonly title: string;
  readonly slug: string;
  readonly content: readonly Node[];
}

/** The path of the example programs on the server. Manuals link to these programs. */
const PROGRAMS = 'docs/examples/';

/** Splits Markdown into an introduction and guides. */
export function guidesOf(text: string): { introduction: Node[]; guides: Guide[] } {
  const introduction: Node[] = [];
  const guides: (Guide & { content: Node[] })[] = [];
  for (const token of marked.lexer(text)) {
    const guide = guides.at(-1);
    if (token.type === 'heading' && token['depth'] === 2) {
      const title = String(token['text']);
      guides.push({ title, slug: slugOf(title), content: [] });
    } else (guide?.content ?? introduction).push(...block(token, guide));
  }
  return { introduction, guides };
}

/** Returns the nodes of one paragraph of Markdown. */
export function inlineMarkdown(text: string): Node[] {
  return marked.Lexer.lexInline(text).map(inline);
}

function block(token: Token, guide: Guide | undefined): Node[] {
  switch (token.type) {
    case 'space':
    // Comments are for those who edit the text.
    case 'html':
      return [];
    case 'paragraph':
      return isPicture(token) ? [] : [el('p', {}, ...inlineAll(token))];
    case 'list': {
      const { ordered, items } = token as Tokens.List;
      const rows = items.map(({ tokens }) =>
        el('li', {}, ...tokens.flatMap((part) => itemPart(part, guide))),
      );
      return [el(ordered ? 'ol' : 'ul', {}, ...rows)];
    }
    case 'code':
      return [codeBlock(`sample of ${guide?.title ?? 'the API'}`, String(token['text']), 'Sample')];
    case 'table':
      return [table(token as Tokens.Table, guide ?? { slug: 'introduction', title: 'Introduction' })];
    default:
      return [el('p', {}, token.raw)];
  }
}

function isPicture(token: Token): boolean {
  return ((token as Tokens.Generic).tokens ?? []).every(({ type }) => type === 'image');
}

/** Returns the nodes of a part of a list item: text without a paragraph, or a block. */
function itemPart(token: Token, guide: Guide | undefined): Node[] {
  return token.type === 'text' ? inlineAll(token) : block(token, guide);
}

/** Creates a table. A row that starts with code has an id: for `name` in the guide `what-is-a-pet`, it is `what-is-a-pet-name`. */
function table({ header, rows }: Tokens.Table, { slug, title }: Omit<Guide, 'content'>): HTMLElement {
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
  // In a narrow window, the style shows rows as blocks. The roles tell assistive technology that this is still a table.
  const element = el(
    'table',
    { role: 'table' },
    el('thead', { role: 'rowgroup' }, el('tr', { role: 'row' }, ...head)),
    el('tbody', { role: 'rowgroup' }, ...body),
  );
  return el(
    'div',
    {
      class: 'table',
      tabindex: '0',
      role: 'region',
      'aria-label': `Table: ${title}`,
    },
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
    case 'link': {
      const href = targetOf(String(token['href']));
      return el(href === undefined ? 'span' : 'a', { href }, ...inlineAll(token));
    }
    // Images are left out, because the content security policy of the page allows none from other servers.
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

/**
 * Returns the target that a link has on the page, or `undefined` if the link is to a file that the server does not have, such as
 * most manuals. A link to the manual of the client leads to the client itself.
 */
function targetOf(target: string): string | undefined {
  if (target.startsWith('docs#')) return target.slice('docs'.length);
  if (target === 'client.md') return 'docs/animal-store-client.js';
  if (target.startsWith('../examples/')) return target.replace('../examples/', PROGRAMS);
  return /^(?:https?:|#|\/)/.test(target) ? target : undefined;
}
