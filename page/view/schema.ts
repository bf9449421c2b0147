/** Shows the members of a schema, the parameters of an operation and header fields. */

import { rulesOf, typeOf } from '../constraints.ts';
import type { HeaderField, Parameter, Schema } from '../openapi.ts';
import { type Reference, schemaName, slugOf } from '../reference.ts';
import { type Child, el } from './dom.ts';
import { inlineMarkdown } from './markdown.ts';

/** Lists the members of an object. Shows an array by the type of its elements, and any other schema by its type and its rules. */
export function schemaView(reference: Schema, { resolve }: Reference): HTMLElement {
  const schema = resolve(reference);
  const element = schema.items ?? schema;
  const { properties, required = [] } = resolve(element);
  if (schema.items !== undefined) return el('p', {}, 'An array of ', typeLink(schema.items), '.');
  if (properties === undefined)
    return el('p', { class: 'rules' }, [typeOf(schema), ...rulesOf(schema)].join(' · '));
  return el(
    'ul',
    { class: 'fields' },
    ...Object.entries(properties).map(([name, member]) =>
      fieldView(name, member, resolve(member), required.includes(name) ? 'required' : 'optional'),
    ),
  );
}

export function parameterList(parameters: readonly Parameter[], { resolve }: Reference): HTMLElement {
  return el(
    'ul',
    { class: 'fields' },
    ...parameters.map(({ name, in: place, required = false, description, schema }) => {
      const full = { ...resolve(schema), ...(description !== undefined && { description }) };
      return fieldView(name, schema, full, `${place}, ${required ? 'required' : 'optional'}`);
    }),
  );
}

export function headerList(headers: readonly (readonly [string, HeaderField])[]): HTMLElement {
  return el(
    'ul',
    { class: 'fields' },
    ...headers.map(([name, { description = '' }]) =>
      el(
        'li',
        { class: 'field' },
        el('code', { class: 'field-name' }, name),
        el('p', {}, ...inlineMarkdown(description)),
      ),
    ),
  );
}

/** Creates the name of a type. The name of a schema is a link to the schema. */
export function typeLink(schema: Schema): Child {
  if (schema.items?.$ref !== undefined) return el('span', {}, 'array of ', typeLink(schema.items));
  if (schema.$ref === undefined) return typeOf(schema);
  const name = schemaName(schema.$ref);
  return el('a', { href: `#schema-${slugOf(name)}` }, name);
}

/** Shows the type of `schema`, and the rules and the description of the resolved schema (`full`). */
function fieldView(name: string, schema: Schema, full: Schema, presence: string): HTMLElement {
  const rules = rulesOf(full).join(' · ');
  return el(
    'li',
    { class: 'field' },
    el(
      'p',
      { class: 'field-head' },
      el('code', { class: 'field-name' }, name),
      ' ',
      el('span', { class: 'field-type' }, typeLink(schema)),
      ' ',
      el('span', { class: presence.endsWith('required') ? 'field-required' : 'field-optional' }, presence),
    ),
    rules !== '' && el('p', { class: 'rules' }, rules),
    full.description !== undefined && el('p', {}, ...inlineMarkdown(full.description)),
  );
}
