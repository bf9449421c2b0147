/** Checks the status, the header fields and the body of a response against the OpenAPI document. */

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { generateDocument } from '../../openapi/document.ts';
import { servedOperations } from '../../src/adapters/http/lifecycle.ts';
import type { Operation } from '../../src/adapters/http/operations.ts';
import { toTimestamp } from '../../src/domain/timestamp.ts';
import { type Answer, type Asked, pathOf } from './client.ts';

type Node = { readonly [member: string]: unknown };

/**
 * Header fields that the OpenAPI document does not list, because HTTP, CORS or the server adds them to every response.
 */
const GENERAL_FIELDS = new Set(
  (
    'connection content-length content-security-policy content-type date keep-alive referrer-policy vary ' +
    'x-content-type-options'
  ).split(' '),
);

const ajv = new Ajv2020({ allErrors: true, strict: false });
ajv.addFormat('date-time', (text: string) => toTimestamp(text) === text);
ajv.addKeyword({
  keyword: 'int64',
  validate: ([min, max]: [bigint, bigint], value: unknown) =>
    (typeof value === 'bigint' || Number.isSafeInteger(value)) &&
    BigInt(value as bigint) >= min &&
    BigInt(value as bigint) <= max,
});
const validators = new Map<unknown, ValidateFunction>();

/** The documents of servers by their operations. */
const documents = new Map<string, Documented>();

function documentOf(operations: readonly Operation[]): Documented {
  const id = operations.map((operation) => operation.id).join('-');
  const known = documents.get(id);
  if (known !== undefined) return known;
  const document = parseExact(generateDocument(operations)) as Node;
  ajv.addSchema({ $id: id, components: closed(child(document, 'components'), id) });
  documents.set(id, { id, document });
  return { id, document };
}

interface Documented {
  readonly id: string;
  readonly document: Node;
}

/** Parses JSON. An integer that is not safe (beyond 2^53) becomes a `bigint`. */
export function parseExact(text: string): unknown {
  const revive = (_key: string, value: unknown, { source }: { source: string }) =>
    Number.isInteger(value) && !Number.isSafeInteger(value) ? BigInt(source) : value;
  return JSON.parse(text, revive as (key: string, value: unknown) => unknown);
}

/** Throws an error that lists the differences between a response and the OpenAPI document. */
export function checkAgainstDocument(
  answer: Answer,
  request: Asked,
  operations: readonly Operation[] = servedOperations(),
): void {
  const faults = faultsOf(answer, request, documentOf(operations));
  if (faults.length === 0) return;
  const { method, target } = request;
  throw new Error(
    `not as documented: ${method} ${target} ${answer.status}\n${faults.join('\n')}\n${answer.body}`,
  );
}

function faultsOf(answer: Answer, { method, target }: Asked, of: Documented): readonly string[] {
  const path = pathOf(target);
  if (!path.startsWith('/v1') || (path.length > 3 && path[3] !== '/')) return [];
  const operation = pathItemOf(path, of)[method === 'HEAD' ? 'get' : method.toLowerCase()];
  if (operation === undefined) return [];
  const response = child(child(operation as Node, 'responses'), String(answer.status));
  if (Object.keys(response).length === 0) return [`the status ${answer.status} is not documented`];
  return [
    ...headerFaults(answer, child(response, 'headers'), of),
    ...bodyFaults(answer, response, method, of),
  ];
}

function headerFaults({ headers }: Answer, documented: Node, of: Documented): readonly string[] {
  const fields = Object.entries(documented).map(
    ([name, field]) => [name.toLowerCase(), resolve(field, of)] as const,
  );
  const faults = fields.flatMap(([name, { required, schema }]) => {
    const value = headers[name];
    if (value === undefined) return required === true ? [`${name} is missing`] : [];
    const typed = (schema as Node)['type'] === 'integer' ? Number(value) : value;
    return schemaFaults(typed, schema, of).map((fault) => `${name}: ${fault}`);
  });
  const known = new Set(fields.map(([name]) => name));
  const unknown = Object.keys(headers).filter(
    (name) => !known.has(name) && !GENERAL_FIELDS.has(name) && !name.startsWith('access-control-'),
  );
  return [...faults, ...unknown.map((name) => `${name} is not documented`)];
}

function bodyFaults(
  { status, headers, body }: Answer,
  response: Node,
  method: string,
  of: Documented,
): readonly string[] {
  const content = child(response, 'content');
  const [type] = Object.keys(content);
  if (type === undefined) return body === '' ? [] : ['no body is documented'];
  if (headers['content-type'] !== type) return [`the media type ${type} is documented`];
  if (method === 'HEAD') return [];
  const { schema, examples } = child(content, type);
  const value = parseExact(body) as Node;
  const faults = schemaFaults(value, schema, of);
  const codes = Object.keys((examples as Node | undefined) ?? {});
  const isKnown = status < 400 || codes.includes(value['code'] as string);
  return isKnown ? faults : [...faults, `the code is one of ${codes.join(', ')}`];
}

function schemaFaults(value: unknown, schema: unknown, { id }: Documented): readonly string[] {
  let validate = validators.get(schema);
  if (validate === undefined) {
    validate = ajv.compile(closed(schema, id) as object);
    validators.set(schema, validate);
  }
  if (validate(value)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `body${instancePath} ${message}`);
}

/**
 * Converts a schema for Ajv. References are resolved in the OpenAPI document, an int64 can be a `bigint`, and objects
 * must not have undocumented members.
 */
function closed(schema: unknown, id: string): unknown {
  if (Array.isArray(schema)) return schema.map((each) => closed(each, id));
  if (typeof schema !== 'object' || schema === null) return schema;
  const { $ref, format, minimum, maximum } = schema as Node;
  if (typeof $ref === 'string') return { $ref: `${id}${$ref}` };
  if (format === 'int64') return { int64: [minimum, maximum] };
  const members = Object.entries(schema).map(([name, member]) => [name, closed(member, id)]);
  const isObject = 'properties' in schema && (schema as Node)['type'] === 'object';
  return { ...Object.fromEntries(members), ...(isObject && { additionalProperties: false }) };
}

function pathItemOf(path: string, { document }: Documented): Node {
  const paths = child(document, 'paths');
  const template = Object.keys(paths).find((candidate) =>
    new RegExp(`^/v1${candidate.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  return template === undefined ? {} : child(paths, template);
}

function resolve(node: unknown, { document }: Documented): Node {
  const reference = (node as Node)['$ref'];
  if (typeof reference !== 'string') return node as Node;
  return reference.slice('#/'.length).split('/').reduce(child, document);
}

function child(node: Node, name: string): Node {
  return (node[name] ?? {}) as Node;
}
