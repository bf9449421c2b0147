/** Shows an operation: its parameters and responses, its samples and its console. */

import type { Content } from '../openapi.ts';
import type { Operation, Reference } from '../reference.ts';
import { type BaseUrls, consoleOf } from './console.ts';
import { type Child, el, heading, methodBadge } from './dom.ts';
import { inlineMarkdown } from './markdown.ts';
import { responsesView } from './responses.ts';
import { operationSamples } from './samples.ts';
import { parameterList, schemaView, typeLink } from './schema.ts';
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
      ...responsesView(operation, reference),
    ),
    el('div', { class: 'operation-aside' }, operationSamples(summary, slug, request, choices, go), console),
  );
}

/** Creates the badges of an operation that is deprecated or experimental. */
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
