/** Sends a request and shows the response. */

import { formatJson } from '../exact-json.ts';
import type { SampleRequest } from '../samples/request.ts';
import { codeBlock } from './code.ts';
import { button, el } from './dom.ts';

export interface ResponseView {
  readonly element: HTMLElement;
  /**
   * Sends the request with the API key, and shows the response or the fault.
   *
   * @param turnPage returns the function that requests the next page, or `undefined` on the last page
   */
  show(
    request: SampleRequest,
    apiKey: string,
    turnPage: (link: string | null) => (() => void) | undefined,
  ): Promise<void>;
}

export function responseView(name: string): ResponseView {
  const status = el('p', { class: 'response-status', role: 'status' });
  const details = el('div', { class: 'response-details' });
  return {
    element: el('div', { class: 'response' }, status, details),
    async show({ method, url, headers, body }, apiKey, turnPage) {
      status.replaceChildren('Sending…');
      const startedAt = performance.now();
      try {
        const response = await fetch(url, {
          method,
          headers: [...(apiKey === '' ? [] : [['Authorization', `Bearer ${apiKey}`]]), ...headers] as [
            string,
            string,
          ][],
          ...(body !== undefined && { body }),
          cache: 'no-store',
          credentials: 'omit',
          redirect: 'error',
        });
        const text = await response.text();
        const milliseconds = Math.round(performance.now() - startedAt);
        const kind = response.ok ? 'good' : 'bad';
        status.replaceChildren(
          el('strong', { class: kind }, `${response.status} ${response.statusText}`.trim()),
          ` in ${milliseconds} ms`,
        );
        const next = turnPage(response.headers.get('Link'));
        details.replaceChildren(
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
        status.replaceChildren(
          el('strong', { class: 'bad' }, 'Not sent: '),
          String((error as Error).message),
        );
        details.replaceChildren();
      }
    },
  };
}

/** Indents JSON. Returns other text unchanged. */
function readable(text: string): string {
  try {
    return formatJson(text);
  } catch {
    return text;
  }
}
