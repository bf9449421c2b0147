/** The choice of the colors: light, dark, or those of the system. */

import { el } from './dom.ts';
import { remembered, type State } from './state.ts';

const THEMES = ['system', 'light', 'dark'] as const;

type Theme = (typeof THEMES)[number];

/** Creates the choice, and applies what the reader chose last time. */
export function themeChoice(): HTMLElement {
  const theme: State<Theme> = remembered('theme', THEMES, 'system');
  const control = el('select', {}, ...THEMES.map((value) => el('option', { value }, value)));
  control.addEventListener('input', () => theme.set(control.value as Theme));
  theme.observe((value) => {
    control.value = value;
    document.documentElement.dataset['theme'] = value;
  });
  return el('label', { class: 'theme' }, 'Theme', control);
}
