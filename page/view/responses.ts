/** Shows the responses of an operation: a tab for each status, with its meaning and an example. */

import { typeOf } from '../constraints.ts';
import { formatJson, writeExact } from '../exact-json.ts';
import type { Schema } from '../openapi.ts';
import { type Failure, type Operation, type Reference, type Success, slugOf } from '../reference.ts';
import { codeBlock } from './code.ts';
import { type Child, el } from './dom.ts';
import { inlineMarkdown } from './markdown.ts';
import { headerList, schemaView, typeLink } from './schema.ts';
import { State } from './state.ts';
import { tabList } from './tabs.ts';

/** The guide that has a row for each error code. */
const ERRORS = 'what-do-errors-look-like';

export function responsesView(operation: Operation, reference: Reference): HTMLElement[] {
  const { slug, summary, successes, failures } = operation;
  const panels = new Map<string, Child[]>(
    successes.map((success) => [success.status, successView(success, summary, reference)]),
  );
  for (const [status, codes] of failuresByStatus(failures)) {
    panels.set(status, [el('ul', { class: 'failures' }, ...codes.map((code) => failureView(code, summary)))]);
  }
  const statuses = [...panels.keys()];
  const selected = new State(statuses[0] ?? '');
  const panelId = (status: string) => `${slug}-response-${status}`;
  const elements = [...panels].map(([status, content]) => {
    const attributes = {
      id: panelId(status),
      role: 'tabpanel',
      'aria-labelledby': `${panelId(status)}-${status}`,
    };
    const panel = el('div', attributes, ...content);
    // Fired when the browser finds text in a panel that is hidden `until-found`, and when a link leads into the panel.
    panel.addEventListener('beforematch', () => selected.set(status));
    selected.observe((shown) => {
      // If every panel had 0, the Tab key would also stop at panels that are hidden `until-found`.
      panel.tabIndex = shown === status ? 0 : -1;
      if (shown === status) panel.removeAttribute('hidden');
      else panel.setAttribute('hidden', 'until-found');
    });
    return panel;
  });
  const tabs = tabList(`Status of the response of ${summary}`, statuses, selected, panelId);
  return [el('h4', {}, 'Responses'), el('div', { class: 'responses' }, tabs, ...elements)];
}

function failuresByStatus(failures: readonly Failure[]): Map<string, Failure[]> {
  const byStatus = new Map<string, Failure[]>();
  for (const failure of failures) {
    byStatus.set(failure.status, [...(byStatus.get(failure.status) ?? []), failure]);
  }
  return byStatus;
}

function successView(
  { status, description, headers, content }: Success,
  of: string,
  reference: Reference,
): Child[] {
  const [example] = Object.values(content?.examples ?? {});
  return [
    el('p', { class: 'meaning' }, ...inlineMarkdown(description)),
    content && el('p', {}, 'The body is ', typeLink(content.schema), '.'),
    example && codeBlock(`response ${status} of ${of}`, formatJson(writeExact(example.value)), 'Example'),
    content && membersView(content.schema, reference),
    headers.length > 0 && details('Header fields', headerList(headers)),
  ];
}

/** Creates the list of the members of an object, or of each item of an array. */
function membersView(schema: Schema, reference: Reference): HTMLElement {
  const item = reference.resolve(schema).items ?? schema;
  return details(`Members of ${typeOf(item)}`, schemaView(item, reference));
}

function failureView({ status, code, when = '', example }: Failure, of: string): HTMLElement {
  const name = el('code', { class: 'failure-name' }, `${status} ${code}`);
  return el(
    'li',
    {},
    el('p', { class: 'meaning' }, el('a', { href: `#${ERRORS}-${slugOf(code)}` }, name)),
    when !== '' && el('p', {}, ...inlineMarkdown(when)),
    codeBlock(`response ${code} of ${of}`, formatJson(writeExact(example)), 'Example'),
  );
}

function details(title: string, ...content: readonly Child[]): HTMLElement {
  return el('details', {}, el('summary', {}, title), ...content);
}
