/** Sends a request and shows the response. */

import type { TaggedResponse } from '../entity-tags.ts';
import { formatJson } from '../exact-json.ts';
import type { SampleRequest } from '../samples/request.ts';
import { codeBlock } from './code.ts';
import { button, el } from './dom.ts';
import { inlineMarkdown } from './markdown.ts';

/** The actions that can follow a request. */
export interface Continuation {
  /** Returns the function that requests the next page, or `undefined` on the last page. */
  turnPage(link: string | null): (() => void) | undefined;
  /** Sends the same request again, with the same `Idempotency-Key`. */
  repeat(): void;
  /** Called with each response. */
  onResponse(response: TaggedResponse): void;
}

export interface ResponseView {
  readonly element: HTMLElement;
  /** Says that no request was sent, because a field is invalid. */
  refuse(): void;
  /** Sends the request with the API key, and shows the response or the failure. */
  show(request: SampleRequest, apiKey: string, continuation: Continuation): Promise<void>;
}

/** The time after which a request without a response is cancelled, in milliseconds. */
const TIMEOUT = 30_000;

/** Advice for the reader after a response with one of these statuses. */
const EXPLAINED: Readonly<Record<number, string>> = {
  410: 'The server was restored since it sent this cursor. Leave `after` empty, and begin again.',
  412:
    'This request changed nothing: the pet has changed since the version in `If-Match`, perhaps by an earlier request of yours whose ' +
    'response was lost. Read the pet again, and decide again. Its new version is then filled in.',
};

export function responseView(name: string): ResponseView {
  const status = el('p', { class: 'response-status', role: 'status', tabindex: '-1' });
  const details = el('div', { class: 'response-details' });
  /** If the old details had the focus, focuses a button of the new details, or the status if they have none. */
  const showDetails = (...nodes: readonly Node[]) => {
    const hadFocus = details.contains(document.activeElement);
    details.replaceChildren(...nodes);
    if (hadFocus) (details.querySelector<HTMLElement>(':scope > .tool') ?? status).focus();
  };
  const fail = (what: string, reason: string, ...more: readonly Node[]) => {
    status.replaceChildren(el('strong', { class: 'bad' }, what), reason);
    showDetails(...more);
  };
  return {
    element: el('div', { class: 'response' }, status, details),
    refuse: () => fail('Not sent: ', 'a field of the form is invalid.'),
    async show(sample, apiKey, { turnPage, repeat, onResponse }) {
      status.replaceChildren('Waiting for the response…');
      const startedAt = performance.now();
      let request: Request;
      try {
        request = requestOf(sample, apiKey);
      } catch (error) {
        fail('Not sent: ', (error as Error).message);
        return;
      }
      try {
        const response = await fetch(request);
        const text = await response.text();
        const milliseconds = Math.round(performance.now() - startedAt);
        const kind = response.ok ? 'good' : 'bad';
        const isReplay = response.headers.has('Idempotency-Replayed');
        status.replaceChildren(
          el('strong', { class: kind }, `${response.status} ${response.statusText}`.trim()),
          isReplay ? ', replayed: this key was used before,' : '',
          ` in ${milliseconds} ms`,
        );
        onResponse({ status: response.status, etag: response.headers.get('ETag'), text, isReplay });
        const next = turnPage(response.headers.get('Link'));
        const explained = EXPLAINED[response.status];
        const isUnknown = response.status >= 500 && !text.includes('"overloaded"');
        showDetails(
          ...(explained === undefined ? [] : [el('p', {}, ...inlineMarkdown(explained))]),
          ...(isUnknown ? outcome(request, repeat) : []),
          ...(next === undefined ? [] : [button({ class: 'tool' }, 'Next page', next)]),
          ...(text === '' ? [] : [codeBlock(`response of ${name}`, readable(text))]),
          el(
            'details',
            {},
            el('summary', {}, 'Response header fields'),
            codeBlock(
              `response header fields of ${name}`,
              [...response.headers].map(([field, value]) => `${field}: ${value}`).join('\n'),
            ),
          ),
        );
      } catch (error) {
        fail('No response: ', reasonOf(error as Error), ...outcome(request, repeat));
      }
    },
  };
}

function requestOf({ method, url, headers, body }: SampleRequest, apiKey: string): Request {
  const authorization = apiKey === '' ? [] : [['Authorization', `Bearer ${apiKey}`] as const];
  const fields = [...authorization, ...headers];
  for (const [name, value] of fields) {
    const wrong = /[^ -ÿ]/u.exec(value)?.[0];
    if (wrong !== undefined)
      throw new Error(`${name} contains “${wrong}”, and header fields have only characters of Latin-1.`);
  }
  return new Request(url, {
    method,
    headers: fields.map(([name, value]) => [name, value] as [string, string]),
    ...(body !== undefined && { body }),
    cache: 'no-store',
    credentials: 'omit',
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT),
  });
}

/** Says why there is no response. The error messages of browsers differ, and say less than these. */
function reasonOf({ name }: Error): string {
  return name === 'TimeoutError'
    ? `none within ${TIMEOUT / 1000} seconds.`
    : 'the server cannot be reached, or the connection was lost.';
}

/** Says what is known about a request after a lost response or a fault of the server, and offers to repeat it where that is safe. */
function outcome({ method, headers }: Request, repeat: () => void): HTMLElement[] {
  const key = headers.get('Idempotency-Key');
  if (method === 'GET') {
    return [el('p', {}, 'Nothing was changed.'), button({ class: 'tool' }, 'Repeat', repeat)];
  }
  const unknown = 'The outcome is unknown: the server may have handled the request.';
  if (key === null) return [el('p', {}, unknown)];
  return [
    el(
      'p',
      {},
      `${unknown} With the same Idempotency-Key, `,
      el('code', {}, key),
      ', it is handled only once. While the form is unchanged, “Send request” uses this key, too.',
    ),
    button({ class: 'tool' }, 'Repeat with the same key', repeat),
  ];
}

/** Indents JSON. Returns other text unchanged. */
function readable(text: string): string {
  try {
    return formatJson(text);
  } catch {
    return text;
  }
}
