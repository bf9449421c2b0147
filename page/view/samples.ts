/** Shows a request in each sample language. */

import type { GoOptions } from '../samples/go.ts';
import type { SampleRequest } from '../samples/request.ts';
import { LANGUAGES, SAMPLES } from '../samples/samples.ts';
import { codeElement, copyButton, showCode } from './code.ts';
import { button, el } from './dom.ts';
import type { Choices, State } from './state.ts';
import { tabList } from './tabs.ts';

/**
 * Creates the samples of an operation, with a tab for each language. They change with the request, the language and the API key.
 * The copy button copies the text that is shown, which contains the API key only while the reader shows the key.
 *
 * @param id the id of the section; the ids of the tabs start with it
 */
export function operationSamples(
  name: string,
  id: string,
  request: State<SampleRequest>,
  choices: Choices,
  go: Pick<GoOptions, 'resolve' | 'response'>,
): HTMLElement {
  const { language, apiKey, isKeyShown } = choices;
  const label = `sample of ${name}`;
  const pre = codeElement(label, '');
  pre.id = `${id}-sample`;
  pre.setAttribute('role', 'tabpanel');
  pre.removeAttribute('aria-label');
  const update = () => {
    pre.setAttribute('aria-labelledby', `${pre.id}-${language.value}`);
    const key = isKeyShown.value && apiKey.value !== '' ? apiKey.value : undefined;
    showCode(pre, SAMPLES[language.value](request.value, { ...go, key }));
  };
  for (const state of [language, request, apiKey, isKeyShown] as State<unknown>[]) state.observe(update);
  const tabs = tabList(`Language of the ${label}`, LANGUAGES, language, () => pre.id);
  const bar = el('div', { class: 'code-bar' }, tabs, showKeyButton(choices), copyButton(label, pre));
  return el('div', { class: 'code' }, bar, pre);
}

/** Creates the button that shows or hides the API key everywhere. The button is hidden while there is no key. */
export function showKeyButton({ apiKey, isKeyShown }: Choices): HTMLButtonElement {
  const show = button({ class: 'tool' }, 'Show key', () => isKeyShown.set(!isKeyShown.value));
  isKeyShown.observe((isShown) => {
    show.textContent = isShown ? 'Hide key' : 'Show key';
  });
  apiKey.observe((key) => {
    show.hidden = key === '';
  });
  return show;
}
