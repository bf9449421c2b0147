/** Creates elements. Text is never parsed as HTML. */

export type Child = Node | string | false | undefined;

/** Creates an element. An attribute is left out when its value is `false` or `undefined`. */
export function el<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | boolean | undefined>> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== false && value !== undefined) element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== false && child !== undefined));
  return element;
}

/** Creates a button that does not submit a form. */
export function button(
  attributes: Readonly<Record<string, string>>,
  label: string,
  onClick: () => void,
): HTMLButtonElement {
  const element = el('button', { type: 'button', ...attributes }, label);
  element.addEventListener('click', onClick);
  return element;
}

/** Creates the heading of the section `id`, with a link to the section. */
export function heading(level: 'h2' | 'h3' | 'h4', id: string, ...children: readonly Child[]): HTMLElement {
  const name = children.map((child) => (child instanceof Node ? child.textContent : child || '')).join('');
  const link = el('a', { class: 'anchor', href: `#${id}`, 'aria-label': `Link to ${name}` }, '#');
  return el('div', { class: 'heading' }, el(level, { id: `${id}-heading` }, ...children), link);
}

/** Creates the badge of an HTTP method. */
export function methodBadge(method: string): HTMLElement {
  return el('span', { class: `method method-${method.toLowerCase()}` }, method);
}
