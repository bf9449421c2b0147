/** Shows an operation: its parameters and responses, its samples and its console. */

import { typeOf } from '../constraints.ts';
import { formatJson, writeExact } from '../exact-json.ts';
import type { Content, Schema } from '../openapi.ts';
import type { Operation, Reference, Success } from '../reference.ts';
import { codeBlock } from './code.ts';
import { type BaseUrls, consoleOf } from './console.ts';
import { type Child, el, heading, methodBadge } from './dom.ts';
import { inlineMarkdown } from './markdown.ts';
import { operationSamples } from './samples.ts';
import { headerList, parameterList, schemaView, typeLink } from './schema.ts';
import type { Choices } from './state.ts';

export function operationView(
  operation: Operation,
  reference: Reference,
  urls: BaseUrls,
  choices: Choices,
): HTMLElement {
  const { slug, summary, description, method, path, parameters, body, successes } = operation;
  const { element: console, request } = consoleOf(operation, reference.resolve, urls, choices);
  const go = { resolve: reference.resolve, response: successes[0]?.content?.schema };
  return el(
    'section',
    { id: slug, class: 'operation', 'aria-labelledby': `${slug}-heading` },
    el(
      'div',
      { class: 'operation-text' },
      heading('h3', slug, summary),
      el('p', { class: 'route' }, methodBadge(method), ' ', el('code', {}, path), ...badges(operation)),
      el('p', { class: operation.isDeprecated ? 'notice' : '' }, ...inlineMarkdown(description)),
      ...(parameters.length === 0 ? [] : [el('h4', {}, 'Parameters'), parameterList(parameters, reference)]),
      ...(body === undefined ? [] : bodyView(body, reference)),
      ...successes.flatMap((success) => successView(success, reference)),
      el('h4', {}, 'Errors'),
      failureList(operation),
    ),
    el(
      'div',
      { class: 'operation-aside' },
      operationSamples(summary, slug, request, choices, go),
      console,
      ...exampleView(operation),
    ),
  );
}

/** Creates the badges of an operation that is deprecated or can still change. */
export function badges({ isDeprecated, sunset, stability }: Operation): Child[] {
  const deprecated = sunset === undefined ? 'deprecated' : `deprecated, removal on ${sunset}`;
  return [
    isDeprecated && el('span', { class: 'badge badge-deprecated' }, deprecated),
    stability !== undefined && el('span', { class: 'badge badge-stability' }, stability),
  ];
}

function bodyView({ schema }: Content, reference: Reference): Child[] {
  return [el('h4', {}, 'Request body: ', typeLink(schema)), schemaView(schema, reference)];
}

function successView({ status, description, headers, content }: Success, reference: Reference): Child[] {
  return [
    el('h4', {}, `Response ${status}`, content && ': ', content && typeLink(content.schema)),
    el('p', {}, ...inlineMarkdown(description)),
    content && membersView(content.schema, reference),
    headers.length > 0 && details('Header fields', headerList(headers)),
  ];
}

/** Creates the members of an object, or of the items of an array. */
function membersView(schema: Schema, reference: Reference): HTMLElement {
  const item = reference.resolve(schema).items ?? schema;
  return details(`Members of ${typeOf(item)}`, schemaView(item, reference));
}

/** Creates the examples of a response that has content. */
function exampleView({ summary, successes }: Operation): HTMLElement[] {
  const { status, content } = successes[0] ?? {};
  const [example] = Object.values(content?.examples ?? {});
  if (example === undefined) return [];
  const name = `response ${status} of ${summary}`;
  return [codeBlock(name, formatJson(writeExact(example.value)), `Example response ${status}`)];
}

function failureList({ summary, failures }: Operation): HTMLElement {
  const rows = failures.map(({ status, code, example }) =>
    el(
      'li',
      {},
      details(
        el('code', {}, `${status} ${code}`),
        codeBlock(`response ${code} of ${summary}`, formatJson(writeExact(example)), 'Example response'),
        el('a', { href: `#errors-${code.replaceAll('_', '-')}` }, `When ${code} is sent`),
      ),
    ),
  );
  return el('ul', { class: 'failures' }, ...rows);
}

function details(title: Child, ...content: readonly Child[]): HTMLElement {
  return el('details', {}, el('summary', {}, title), ...content);
}
