/** The fields of a console. All fields hold text, so that no integer is rounded. */

import { rulesOf } from '../constraints.ts';
import { formatJson, writeExact } from '../exact-json.ts';
import type { Content, Parameter, Schema } from '../openapi.ts';
import { el } from './dom.ts';
import { showKeyButton } from './samples.ts';
import type { Choices } from './state.ts';

export interface Field<C extends HTMLElement> {
  readonly name: string;
  readonly element: HTMLElement;
  readonly control: C;
}

export function parameterField(
  { name, in: place, required = false, example, schema: reference }: Parameter,
  resolve: (schema: Schema) => Schema,
): Field<HTMLInputElement | HTMLSelectElement> {
  const schema = resolve(reference);
  const { enum: listed, ...others } = schema;
  const choices = schema.type === 'boolean' ? [true, false] : listed;
  const rules = schema.format === undefined ? rulesOf(others) : [schema.format];
  const isRequired = required || place === 'path';
  const control =
    choices === undefined
      ? el('input', {
          type: 'text',
          name,
          required: isRequired,
          spellcheck: 'false',
          inputmode: schema.type === 'integer' && 'numeric',
          placeholder: schema.default === undefined ? undefined : writeExact(schema.default),
          value: example === undefined ? undefined : textOf(example),
        })
      : el(
          'select',
          { name },
          !isRequired && el('option', { value: '' }, 'any'),
          ...choices.map((value) => el('option', { value: textOf(value) }, textOf(value))),
        );
  const notes = [isRequired && 'required', ...rules].filter(Boolean).join(' · ');
  return { name, element: labelOf(control, name, notes), control };
}

/** Creates the field of a request body, with a choice of the examples in the OpenAPI document. */
export function bodyField({ examples = {} }: Content): Field<HTMLTextAreaElement> {
  const names = Object.keys(examples);
  const textAt = (name: string | undefined) =>
    name === undefined ? '' : formatJson(writeExact(examples[name]?.value));
  const control = el('textarea', { name: 'body', rows: '5', spellcheck: 'false' });
  control.value = textAt(names[0]);
  const choice = el(
    'select',
    {},
    ...names.map((name) => el('option', { value: name }, examples[name]?.summary ?? name)),
  );
  let [used] = names;
  choice.addEventListener('input', () => {
    const isTyped = control.value !== '' && control.value !== textAt(used);
    if (isTyped && !confirm('Replace the body that you have typed?')) {
      choice.value = used ?? '';
      return;
    }
    used = choice.value;
    control.value = textAt(used);
  });
  const element = el(
    'div',
    { class: 'body-field' },
    el('label', {}, el('span', { class: 'label' }, 'Example'), choice),
    labelOf(control, 'Request body', 'JSON'),
  );
  return { name: 'body', element, control };
}

/** Creates a field for the API key. All such fields show the same key. */
export function apiKeyField(id: string, choices: Choices): HTMLElement {
  const { apiKey, isKeyShown } = choices;
  const control = el('input', {
    id: `${id}-api-key`,
    type: 'password',
    autocomplete: 'off',
    spellcheck: 'false',
    placeholder: 'pets_...',
    'aria-describedby': `${id}-key-source`,
  });
  // A reader can paste the key with `Bearer` in front of it.
  control.addEventListener('input', () => apiKey.set(control.value.trim().replace(/^Bearer\s+/i, '')));
  // Enter in this field must not send the request, which could be a removal with the values of the other fields.
  control.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') event.preventDefault();
  });
  apiKey.observe((key) => {
    if (control.value.trim() !== key) control.value = key;
  });
  isKeyShown.observe((isShown) => {
    control.type = isShown ? 'text' : 'password';
  });
  return el(
    'div',
    { class: 'key-field' },
    el('label', { for: control.id, class: 'label' }, 'API key'),
    el('div', { class: 'key-row' }, control, showKeyButton(choices)),
    el(
      'p',
      { class: 'hint', id: `${id}-key-source` },
      'From the operator of the server: its first start prints a key, and ',
      el('code', {}, 'animal-store keys create'),
      ' makes more.',
    ),
  );
}

/** Creates the label of a control. The notes are the description of the control, not a part of its name. */
function labelOf(control: HTMLElement, name: string, notes: string): HTMLElement {
  control.setAttribute('aria-label', name);
  control.setAttribute('aria-description', notes);
  return el('label', {}, el('span', { class: 'label' }, name, el('small', {}, notes)), control);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : writeExact(value);
}
