/** Shows the part of the page that a link or the search leads to. */

import { idIn } from '../reference.ts';

/** Shows an element, and changes the URL to that of the section around the element. */
export function land(element: HTMLElement): void {
  // The id of a heading only labels its section. Links use the id of the section.
  const id = element.closest('[id]:not([id$="-heading"])')?.id ?? '';
  // Setting `location.hash` would scroll to the section, at once and again at `hashchange`. `pushState` does not scroll and fires
  // no event, so the page stays at the element within the section.
  if (id !== '' && location.hash !== `#${id}`) history.pushState(0, '', `#${id}`);
  show(element);
  history.replaceState(scrollY, '');
}

/**
 * Shows the element that the URL names, now and whenever a link changes the fragment. The browser cannot do this at the
 * start, because the page was loaded before the element existed. For the same reason, the browser cannot restore the
 * scroll position after a reload, so each history entry has the position in its state.
 */
export function followFragments(): void {
  const follow = () => {
    const element = document.getElementById(idIn(location.hash));
    // The browser itself scrolls to `main` and to elements outside `main`, which are in the HTML of the page.
    if (element?.parentElement?.closest('main')) show(element);
  };
  const keepPosition = () => history.replaceState(scrollY, '');
  const position: unknown = history.state;
  follow();
  if (typeof position === 'number') scrollTo(0, position);
  keepPosition();
  addEventListener('scrollend', () => {
    // An entry without state is new: its `hashchange` event, which sets the state, has not been fired yet.
    if (history.state !== null) keepPosition();
  });
  addEventListener('hashchange', () => {
    // An entry that the reader returns to has a state, and the browser restores its position.
    if (history.state === null) follow();
    keepPosition();
  });
}

/** Scrolls to an element, and highlights and focuses it, or the heading if it is a section. */
function show(element: HTMLElement): void {
  for (const details of ancestorsOf(element)) details.open = true;
  element.dispatchEvent(new Event('beforematch', { bubbles: true }));
  element.scrollIntoView();
  const heading = element.matches('section') ? element.querySelector<HTMLElement>('.heading, h1') : null;
  const shown = heading ?? element;
  document.querySelector('.is-landed')?.classList.remove('is-landed');
  shown.classList.add('is-landed');
  if (!shown.hasAttribute('tabindex')) shown.tabIndex = -1;
  shown.focus({ preventScroll: true });
}

/** Returns the `details` elements that contain an element. */
function ancestorsOf(element: HTMLElement): HTMLDetailsElement[] {
  return [...document.querySelectorAll('details')].filter((details) => details.contains(element));
}
