/** Shows code with colors and a button that copies the code. */

import { escapeReordering } from '../exact-json.ts';
import { highlight } from '../highlight.ts';
import { button, el } from './dom.ts';

const COPIED_MILLISECONDS = 1500;

/** Creates a block of code. `name` completes the label of the copy button: "Copy the response". */
export function codeBlock(name: string, code: string, heading: string = title(name)): HTMLElement {
  const pre = codeElement(name, code);
  const bar = el('div', { class: 'code-bar' }, el('span', {}, heading), copyButton(name, pre));
  return el('div', { class: 'code' }, bar, pre);
}

/** The Tab key stops at code that can be scrolled. */
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries)
    (target as HTMLElement).tabIndex = target.scrollHeight > target.clientHeight ? 0 : -1;
});

/** Creates the element that shows code. The element can be scrolled with the keyboard. */
export function codeElement(name: string, code: string): HTMLPreElement {
  const pre = el('pre', { role: 'group', 'aria-label': title(name) });
  resized.observe(pre);
  showCode(pre, code);
  return pre;
}

export function showCode(pre: HTMLElement, code: string): void {
  const parts = highlight(escapeReordering(code)).map(({ text, kind }) =>
    kind === undefined ? text : el('span', { class: `code-${kind}` }, text),
  );
  pre.replaceChildren(el('code', {}, ...parts));
}

/** Creates a button that copies exactly the text that `pre` shows. */
export function copyButton(name: string, pre: HTMLElement): HTMLButtonElement {
  const label = `Copy the ${name}`;
  const copy = button({ class: 'tool', 'aria-label': label }, 'Copy', async () => {
    const isCopied = await copyText(pre);
    copy.textContent = isCopied ? 'Copied' : 'Text selected';
    copy.removeAttribute('aria-label');
    setTimeout(() => {
      copy.textContent = 'Copy';
      copy.setAttribute('aria-label', label);
    }, COPIED_MILLISECONDS);
  });
  return copy;
}

/** Copies the text of an element. Selects the text if the browser gives no access to the clipboard. */
async function copyText(element: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(element.textContent ?? '');
    return true;
  } catch {
    getSelection()?.selectAllChildren(element);
    return false;
  }
}

function title(name: string): string {
  return name.charAt(0).toUpperCase() + name.slice(1);
}
