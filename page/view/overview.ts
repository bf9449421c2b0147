/** Shows the start of the page: what the API is, where it is, and its operations. */

import type { Reference } from '../reference.ts';
import { codeBlock } from './code.ts';
import { el, methodBadge } from './dom.ts';
import { apiKeyField } from './fields.ts';
import { badges } from './operation.ts';
import type { Choices } from './state.ts';

export function overview(
  { title, version, operations }: Reference,
  introduction: readonly Node[],
  serverUrl: string,
  choices: Choices,
): HTMLElement {
  const rows = operations.map((operation) => {
    const { slug, method, path, summary } = operation;
    const route = el('span', { class: 'route' }, methodBadge(method), ' ', el('code', {}, path));
    const name = el('span', { class: 'operation-name' }, summary, ' ', ...badges(operation));
    return el('li', {}, el('a', { href: `#${slug}` }, route, ' ', name));
  });
  return el(
    'section',
    { id: 'overview', class: 'overview', 'aria-labelledby': 'overview-heading' },
    el(
      'div',
      {},
      el('h1', { id: 'overview-heading' }, `${title} API`),
      el(
        'p',
        { class: 'version' },
        `API version ${version} · `,
        el('a', { href: 'openapi.json' }, 'OpenAPI document'),
      ),
      ...introduction.slice(0, 1),
      el('ul', { class: 'operation-list', 'aria-label': 'Operations' }, ...rows),
    ),
    el('div', { class: 'overview-aside' }, codeBlock('base URL', serverUrl), keyForm(choices)),
    el('div', { class: 'overview-text' }, ...introduction.slice(1)),
  );
}

/** Creates the form for the API key of all consoles. The page does not store the key. */
function keyForm(choices: Choices): HTMLElement {
  const hint = 'The consoles on this page send the key. The page does not store it.';
  return el(
    'form',
    { class: 'console', 'aria-label': 'Authentication of the consoles', autocomplete: 'off' },
    apiKeyField('overview', choices),
    el('p', { class: 'hint' }, hint),
  );
}
