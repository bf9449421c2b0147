/** A list of tabs, of which one is selected. The keys Left, Right, Home and End select a tab. */

import { button, el } from './dom.ts';
import type { State } from './state.ts';

/**
 * Creates the tabs. The first tab is selected when no tab has the selected value.
 *
 * @param panelIdOf returns the id of the panel that a tab shows
 */
export function tabList<T extends string>(
  name: string,
  values: readonly T[],
  selected: State<T>,
  panelIdOf: (value: T) => string,
): HTMLElement {
  const tabs = values.map((value) =>
    button(
      { role: 'tab', id: `${panelIdOf(value)}-${value}`, 'aria-controls': panelIdOf(value) },
      value,
      () => selected.set(value),
    ),
  );
  const selectedAt = () => Math.max(values.indexOf(selected.value), 0);
  selected.observe(() => {
    for (const [at, tab] of tabs.entries()) {
      tab.setAttribute('aria-selected', String(at === selectedAt()));
      tab.tabIndex = at === selectedAt() ? 0 : -1;
    }
  });
  const list = el('div', { role: 'tablist', 'aria-label': name }, ...tabs);
  list.addEventListener('keydown', (event) => {
    const at = selectedAt();
    const moves: Readonly<Record<string, number>> = {
      ArrowRight: at + 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: values.length - 1,
    };
    const target = moves[event.key];
    if (target === undefined) return;
    event.preventDefault();
    const next = (target + values.length) % values.length;
    selected.set(values[next] as T);
    tabs[next]?.focus();
  });
  return list;
}
