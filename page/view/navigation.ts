/** The navigation: links to all sections, and the mark of the section in view. */

import { el } from './dom.ts';

export interface Link {
  readonly slug: string;
  readonly title: string;
  readonly isDeprecated?: boolean;
  readonly badge?: Node;
}

/** The links of the navigation. The keys are the titles of the groups. */
export type Links = Readonly<Record<string, readonly Link[]>>;

/** Fills the navigation. All sections must be in the document. */
export function fillNavigation(navigation: HTMLElement, links: Links): void {
  const groups = Object.entries(links).map(([title, entries]) => {
    const items = entries.map(item);
    const id = `navigation-${title.toLowerCase()}`;
    const element = el(
      'div',
      {},
      el('p', { class: 'group', id }, title),
      el('ul', { 'aria-labelledby': id }, ...items.map(({ element }) => element)),
    );
    return { element, items };
  });
  navigation.replaceChildren(...groups.map(({ element }) => element));
  markSectionInView(groups.flatMap(({ items }) => items));
}

interface Item {
  readonly element: HTMLElement;
  readonly link: HTMLAnchorElement;
  readonly section: HTMLElement | null;
}

function item({ slug, title, isDeprecated = false, badge }: Link): Item {
  const hint = isDeprecated && el('span', { class: 'visually-hidden' }, ' (deprecated) ');
  const link = el(
    'a',
    { href: `#${slug}` },
    el('span', { class: isDeprecated && 'is-deprecated' }, title),
    hint,
    badge,
  );
  return { element: el('li', {}, link), link, section: document.getElementById(slug) };
}

/** The section in view is the last one that starts above a line. The line is this many pixels below the top of the window. */
const TOP = 120;

/** Marks the link to the section in view. At the end of the page, marks the link to the last section. */
function markSectionInView(items: readonly Item[]): void {
  const mark = () => {
    const isAtEnd = scrollY > 0 && scrollY + innerHeight >= document.documentElement.scrollHeight - 1;
    const line = isAtEnd ? innerHeight : TOP;
    const isReached = ({ section }: Item) => (section?.getBoundingClientRect().top ?? line) < line;
    const current = items.findLast(isReached);
    for (const item of items) {
      if (item === current) item.link.setAttribute('aria-current', 'true');
      else item.link.removeAttribute('aria-current');
    }
  };
  let isPlanned = false;
  addEventListener(
    'scroll',
    () => {
      if (isPlanned) return;
      isPlanned = true;
      requestAnimationFrame(() => {
        isPlanned = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}
