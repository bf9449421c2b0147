/** The console of an operation: a form that sends a request and shows the response. */

import { withTagsOf } from '../entity-tags.ts';
import { writeExact } from '../exact-json.ts';
import type { Operation } from '../reference.ts';
import {
  KEY_FIELD,
  nextPage,
  requestOf,
  type SampleRequest,
  TAG_FIELD,
  type Values,
} from '../samples/request.ts';
import { el } from './dom.ts';
import { apiKeyField, bodyField, type Field, parameterField } from './fields.ts';
import { responseView } from './response.ts';
import { type Choices, State } from './state.ts';

export interface Console {
  readonly element: HTMLElement;
  /** The request that the values of the form describe, with the base URL for programs. */
  readonly request: State<SampleRequest>;
}

export interface BaseUrls {
  /** The base URL that the samples show, for programs outside the page. */
  readonly forPrograms: string;
  /** The base URL that the console uses. It has the origin of the page, the only one to which the page may connect. */
  readonly forConsole: string;
}

export function consoleOf(
  operation: Operation,
  resolve: Parameters<typeof parameterField>[1],
  urls: BaseUrls,
  choices: Choices,
): Console {
  const fields = operation.parameters.map((parameter) => parameterField(parameter, resolve));
  for (const { name, control } of fields) {
    if (name === KEY_FIELD) control.setAttribute('placeholder', 'a new key for each request');
    if (name !== TAG_FIELD) continue;
    control.setAttribute('placeholder', 'filled in from responses, or *');
    control.setAttribute('pattern', '\\s*(\\*|".*")\\s*');
    control.title =
      'The ETag of the pet with its double quotes, filled in from responses, or * for any version';
    // The example in the document is `*`: with it, a request would change any version. So the field starts empty.
    control.value = '';
  }
  const body = operation.body && bodyField(operation.body);
  const values = (): Values => ({
    parameters: new Map(fields.map(({ name, control }) => [name, control.value])),
    body: body?.control.value ?? '',
  });
  const request = new State(requestOf(operation, values(), urls.forPrograms));
  const response = responseView(operation.summary);
  const send = el('button', { type: 'submit', class: 'send' }, 'Send request');
  const form = el(
    'form',
    { class: 'console', 'aria-label': `Console: ${operation.summary}`, autocomplete: 'off' },
    el('h4', {}, 'Try it'),
    ...fields.map(({ element }) => element),
    body?.element,
    apiKeyField(operation.slug, choices),
    el(
      'div',
      { class: 'send-row' },
      send,
      el('kbd', { class: 'keys' }, 'Ctrl Enter'),
      urls.forConsole !== urls.forPrograms && el('span', {}, `to ${urls.forConsole}`),
    ),
  );
  const fillTag = tagFiller(fields, choices);
  const update = (event?: Event) => {
    fillTag(event);
    request.set(requestOf(operation, values(), urls.forPrograms));
  };
  // Does not listen to `change`, which a field fires when the reader presses the send button. The sample could then get longer, and
  // move the button away from the pointer.
  form.addEventListener('input', update);
  choices.entityTags.observe(() => update());

  let isBusy = false;
  const setBusy = (value: boolean) => {
    isBusy = value;
    // A disabled button would lose the focus.
    send.setAttribute('aria-disabled', String(value));
    response.element.setAttribute('aria-busy', String(value));
  };
  /** The requests that have not succeeded, with their idempotency keys. A map key is the JSON of a request without its key. */
  const unfinished = new Map<string, SampleRequest>();
  const submit = async (unsent: SampleRequest) => {
    if (isBusy) return;
    setBusy(true);
    const text = writeExact(unsent);
    const sent = unfinished.get(text) ?? withKey(unsent);
    unfinished.set(text, sent);
    try {
      await response.show(sent, choices.apiKey.value, {
        turnPage,
        repeat: () => void submit(unsent),
        onResponse: (received) => {
          if (received.status < 300) unfinished.delete(text);
          const tag = fields.find(({ name }) => name === TAG_FIELD)?.control;
          // The tag is not the pet's current one, so it is removed even if the reader has typed it.
          if (received.status === 412 && tag !== undefined) tag.value = '';
          choices.entityTags.set(withTagsOf(choices.entityTags.value, sent, received));
        },
      });
    } finally {
      setBusy(false);
    }
  };
  const submitForm = () => submit(requestOf(operation, values(), urls.forConsole));
  const turnPage = (link: string | null) => {
    const query = nextPage(link);
    if (query === undefined) return undefined;
    return () => {
      if (isBusy) return;
      for (const { name, control } of fields) control.value = query.get(name) ?? '';
      form.dispatchEvent(new Event('input'));
      void submitForm();
    };
  };
  form.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit();
  });
  // The `invalid` event of a field does not bubble, so the form captures it.
  form.addEventListener('invalid', () => isBusy || response.refuse(), { capture: true });
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void submitForm();
  });
  return { element: el('div', { class: 'console-and-response' }, form, response.element), request };
}

/** Returns a function that, after a response or a change of the id, fills in the tag of the pet, unless the reader typed one. */
function tagFiller(
  fields: readonly Field<HTMLInputElement | HTMLSelectElement>[],
  { entityTags }: Choices,
): (event?: Event) => void {
  const controlOf = (field: string) => fields.find(({ name }) => name === field)?.control;
  const id = controlOf('petId');
  const tag = controlOf(TAG_FIELD);
  let filled = '';
  return (event) => {
    if (id === undefined || tag === undefined || !['', filled].includes(tag.value)) return;
    // Input in a field other than the id does not restore a tag that the reader has removed.
    if (event !== undefined && event.target !== id) return;
    filled = entityTags.value.get(id.value.trim()) ?? '';
    tag.value = filled;
  };
}

/** Adds a new idempotency key, if the reader has typed none, so that a request without a response can be retried. */
function withKey({ newKeyField, ...request }: SampleRequest): SampleRequest {
  if (newKeyField === undefined) return request;
  // `randomUUID` is missing on a page that was loaded over plain HTTP from another machine.
  const key = crypto
    .getRandomValues(new Uint8Array(16))
    .reduce((text, byte) => text + byte.toString(16).padStart(2, '0'), '');
  return { ...request, headers: [...request.headers, [newKeyField, key]] };
}
