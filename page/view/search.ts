/** The search over the texts of the page. */

import { type Entry, excerptOf, findEntries, wordsOf } from '../search.ts';
import { el } from './dom.ts';
import { land } from './landing.ts';

interface Place extends Entry {
  readonly section: string;
  readonly element: HTMLElement;
}

/** The search finds each of these elements as a whole. The elements inside them are not separate results. */
const ROWS = '.field, tbody tr, .failures li';
const HEADINGS = 'h1, h2, h3';
const PLACES = `${HEADINGS}, ${ROWS}, p, li, pre`;
/** Left out: what the reader types and receives, and the list of operations, which repeats headings of the page. */
const EXCLUDED = '.console, .response, .operation-list';
/** The method and the path of an operation are part of the result for its heading. */
const ROUTE = 'p.route';

const MAXIMUM = 30;

/** Lets the button and Ctrl-K open the search. */
export function installSearch(opener: HTMLElement, content: HTMLElement): void {
  const input = el('input', {
    type: 'text',
    role: 'combobox',
    'aria-label': 'Search the reference',
    'aria-autocomplete': 'list',
    'aria-expanded': 'false',
    'aria-controls': 'results',
    placeholder: 'Search: a word, a field, a status such as 413',
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const count = el('p', { class: 'count', role: 'status' });
  const list = el('ul', { id: 'results', role: 'listbox', 'aria-label': 'Results', hidden: true });
  const dialog = el('dialog', { class: 'search', 'aria-label': 'Search' }, input, count, list);
  document.body.append(dialog);

  let places: readonly Place[] = [];
  let found: readonly Place[] = [];
  let selected = 0;

  const open = () => {
    if (dialog.open) return;
    // The texts are read each time, because the samples depend on the choices of the reader.
    places = placesIn(content);
    dialog.showModal();
    input.select();
    find();
  };
  const select = (index: number) => {
    selected = (index + found.length) % found.length;
    for (const [at, row] of [...list.children].entries()) {
      row.setAttribute('aria-selected', String(at === selected));
      if (at === selected) row.scrollIntoView({ block: 'nearest' });
    }
    input.setAttribute('aria-activedescendant', `result-${selected}`);
  };
  const find = () => {
    const words = wordsOf(input.value);
    const all = findEntries(places, words);
    found = all.slice(0, MAXIMUM);
    list.replaceChildren(...found.map((place, index) => resultRow(place, index, words)));
    list.hidden = found.length === 0;
    input.setAttribute('aria-expanded', String(found.length > 0));
    if (found.length > 0) select(0);
    else input.removeAttribute('aria-activedescendant');
    const shown = found.length < all.length ? `, ${found.length} shown` : '';
    const hint = found.length === 0 ? ': try fewer or other words' : '';
    count.textContent = words.length === 0 ? '' : `${all.length} found${shown}${hint}`;
  };
  const goTo = (index: number) => {
    const place = found[index];
    if (place === undefined) return;
    dialog.close();
    land(place.element);
  };

  opener.addEventListener('click', open);
  input.addEventListener('input', find);
  input.addEventListener('keydown', (event) => {
    const moves: Readonly<Record<string, () => void>> = {
      ArrowDown: () => select(selected + 1),
      ArrowUp: () => select(selected - 1),
      Enter: () => goTo(selected),
    };
    const move = moves[event.key];
    if (move === undefined || found.length === 0) return;
    event.preventDefault();
    move();
  });
  dialog.addEventListener('click', ({ target }) => {
    if (target === dialog) dialog.close();
    const row = (target as Element).closest('[role=option]');
    if (row !== null) goTo([...list.children].indexOf(row));
  });
  document.addEventListener('keydown', (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
    event.preventDefault();
    open();
  });
}

function resultRow({ title, section, text }: Place, index: number, words: readonly string[]): HTMLElement {
  const excerpt = excerptOf(text, words).map(({ text: piece, isMatch }) =>
    isMatch ? el('mark', {}, piece) : piece,
  );
  return el(
    'li',
    { role: 'option', id: `result-${index}`, 'aria-selected': 'false' },
    el('strong', {}, title || section),
    title !== '' && title !== section && el('small', {}, ` ${section}`),
    text !== title && el('span', { class: 'excerpt' }, ...excerpt),
  );
}

function placesIn(content: HTMLElement): Place[] {
  return (
    [...content.querySelectorAll<HTMLElement>(PLACES)]
      .filter((element) => element.closest(EXCLUDED) === null && !element.matches(ROUTE))
      .filter((element) => element.matches(ROWS) || element.closest(ROWS) === null)
      // A paragraph inside a list item is part of the result for the item.
      .filter((element) => element.matches(HEADINGS) || element.parentElement?.closest('p, li') === null)
      .map((element) => {
        const section = element.closest<HTMLElement>('section[id]');
        const isSection = element.matches(HEADINGS);
        return {
          element: isSection && section !== null ? section : element,
          section: section?.querySelector(HEADINGS)?.textContent ?? '',
          title: titleOf(element),
          isSection,
          text: partsOf(element)
            .map((part) => part.textContent)
            .join(' '),
        };
      })
  );
}

/**
 * Returns the parts of a found element. Their texts, joined with spaces, are the text of the result. The cells of a row are parts,
 * because the text of a whole row has no spaces between the cells.
 */
function partsOf(element: HTMLElement): Element[] {
  if (element.matches('.failures li')) return [...element.querySelectorAll('.meaning + p, pre')];
  if (element.matches(HEADINGS)) {
    const next = element.parentElement?.nextElementSibling;
    return [next?.matches(ROUTE) ? next : element];
  }
  return element.matches(ROWS) ? [...element.children] : [element];
}

/** Returns the title of a heading, a field, an error or a row of a table. */
function titleOf(element: HTMLElement): string {
  if (element.matches(HEADINGS)) return element.textContent ?? '';
  if (element.matches('tr')) {
    return [...element.children]
      .slice(0, 2)
      .map((cell) => cell.textContent)
      .join(' ');
  }
  return element.querySelector('.field-name, .failure-name')?.textContent ?? '';
}
