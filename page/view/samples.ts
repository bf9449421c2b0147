/** Shows a request in each sample language. */

import type { GoOptions } from '../samples/go.ts';
import type { SampleRequest } from '../samples/request.ts';
import { LANGUAGES, type Language, SAMPLES } from '../samples/samples.ts';
import { codeElement, copyButton, showCode } from './code.ts';
import { button, el } from './dom.ts';
import type { Choices, State } from './state.ts';
import { tabList } from './tabs.ts';

/**
 * Creates the samples of an operation. The samples follow the console, the language and the API key. The copy button
 * copies the text that is shown: a sample contains the API key only while the reader shows the key.
 */
export function operationSamples(
  name: string,
  id: string,
  request: State<SampleRequest>,
  choices: Choices,
  go: Pick<GoOptions, 'resolve' | 'response'>,
): HTMLElement {
  const { apiKey, isKeyShown } = choices;
  const codeOf = (language: Language) => {
    const key = isKeyShown.value && apiKey.value !== '' ? apiKey.value : undefined;
    return SAMPLES[language](request.value, { ...go, key });
  };
  const sources = [request, apiKey, isKeyShown] as State<unknown>[];
  return sampleTabs(`sample of ${name}`, id, LANGUAGES, codeOf, choices, sources);
}

/**
 * Creates a block of code with a tab for each language.
 *
 * @param id the id of the section; the ids of the tabs start with it
 * @param codeOf returns the code in a language
 * @param sources the states that `codeOf` depends on
 */
export function sampleTabs(
  label: string,
  id: string,
  languages: readonly Language[],
  codeOf: (language: Language) => string,
  choices: Choices,
  sources: readonly State<unknown>[] = [],
): HTMLElement {
  const { language } = choices;
  const pre = codeElement(label, '');
  pre.id = `${id}-sample`;
  pre.setAttribute('role', 'tabpanel');
  pre.removeAttribute('aria-label');
  const update = () => {
    const shown = languages.includes(language.value) ? language.value : (languages[0] as Language);
    pre.setAttribute('aria-labelledby', `${pre.id}-${shown}`);
    showCode(pre, codeOf(shown));
  };
  for (const state of [language as State<unknown>, ...sources]) state.observe(update);
  const tabs = tabList(`Language of the ${label}`, languages, language, () => pre.id);
  const showKey = sources.length > 0 && showKeyButton(choices);
  const bar = el('div', { class: 'code-bar' }, tabs, showKey, copyButton(label, pre));
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
