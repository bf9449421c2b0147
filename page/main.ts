/** Shows the OpenAPI document of the server. This is the script of the reference page. */

import guide from '../docs/api.md';
import { guidesOfOperations, idIn, readReference, slugOf } from './reference.ts';
import type { BaseUrls } from './view/console.ts';
import { el, heading, methodBadge } from './view/dom.ts';
import { followFragments } from './view/landing.ts';
import { guidesOf } from './view/markdown.ts';
import { fillNavigation } from './view/navigation.ts';
import { operationView } from './view/operation.ts';
import { overview } from './view/overview.ts';
import { schemaView } from './view/schema.ts';
import { installSearch } from './view/search.ts';
import { newChoices } from './view/state.ts';
import { themeChoice } from './view/theme.ts';

const content = document.querySelector('main') as HTMLElement;
const navigation = document.querySelector('nav') as HTMLElement;
const menu = document.querySelector('#menu') as HTMLButtonElement;
const search = document.querySelector('#search') as HTMLButtonElement;
const theme = themeChoice();

menu.addEventListener('click', () => setMenu(menu.getAttribute('aria-expanded') !== 'true'));
navigation.addEventListener('click', ({ target }) => {
  if ((target as Element).closest('a')) setMenu(false);
});
document.addEventListener('keydown', ({ key }) => {
  if (key !== 'Escape' || menu.getAttribute('aria-expanded') !== 'true') return;
  setMenu(false);
  menu.focus();
});
// The open menu covers the content, so it closes when the content gets the focus.
content.addEventListener('focusin', () => setMenu(false));

content.replaceChildren(el('p', { role: 'status' }, 'Loading…'));
try {
  const response = await fetch('openapi.json');
  if (!response.ok) throw new Error(`the server responded with ${response.status}`);
  show(await response.text());
} catch (error) {
  const reason = (error as Error).message;
  content.replaceChildren(
    el('h1', {}, 'The reference cannot be shown'),
    el(
      'p',
      { role: 'alert' },
      `The OpenAPI document could not be read: ${reason}. Reload the page to try again.`,
    ),
  );
}

function show(text: string): void {
  const reference = readReference(text);
  const urls = baseUrls(reference.serverUrl);
  const choices = newChoices();
  const { introduction } = guidesOf(reference.description);
  const { introduction: aboutGuides, guides } = guidesOf(guidesOfOperations(guide, reference.operations));
  content.replaceChildren(
    overview(reference, introduction, urls.forPrograms, choices),
    group(
      'Operations',
      ...reference.operations.map((operation) => operationView(operation, reference, urls, choices)),
    ),
    group(
      'Guides',
      // The last paragraph of the introduction to the guides defines the variables of the samples.
      ...aboutGuides.slice(-1),
      ...guides.map(({ title, slug, content }) => section(title, slug, ...content)),
    ),
    group(
      'Schemas',
      ...reference.schemas.map(([name, schema]) =>
        section(name, `schema-${slugOf(name)}`, schemaView(schema, reference)),
      ),
    ),
  );
  for (const link of content.querySelectorAll<HTMLAnchorElement>('a[href^="#"]')) {
    if (document.getElementById(idIn(link.hash)) === null) link.replaceWith(...link.childNodes);
  }
  fillNavigation(navigation, {
    Operations: reference.operations.map(({ slug, summary, method, isDeprecated }) => ({
      slug,
      title: summary,
      isDeprecated,
      badge: methodBadge(method),
    })),
    Guides: guides,
    Schemas: reference.schemas.map(([title]) => ({ slug: `schema-${slugOf(title)}`, title })),
  });
  navigation.append(theme);
  installSearch(search, content);
  followFragments();
}

/**
 * Returns the base URLs of the API. The URL for the console is resolved against that of the page. If the URL in the document and the
 * page have different hosts, programs get the URL in the document. Otherwise, they get the URL for the console, because behind a
 * proxy, the URL in the document can have a wrong scheme or path.
 */
function baseUrls(serverUrl: string): BaseUrls {
  const forConsole = new URL('v1', location.href).href;
  const server = new URL(serverUrl, location.href);
  return { forConsole, forPrograms: server.host === location.host ? forConsole : server.href };
}

function group(title: string, ...sections: readonly Node[]): HTMLElement {
  const id = slugOf(title);
  return el(
    'section',
    { id, class: 'group-of-sections', 'aria-labelledby': `${id}-heading` },
    heading('h2', id, title),
    ...sections,
  );
}

function section(title: string, slug: string, ...children: readonly Node[]): HTMLElement {
  const attributes = { id: slug, class: 'text', 'aria-labelledby': `${slug}-heading` };
  return el('section', attributes, heading('h3', slug, title), ...children);
}

function setMenu(isOpen: boolean): void {
  menu.setAttribute('aria-expanded', String(isOpen));
  navigation.classList.toggle('is-open', isOpen);
}
