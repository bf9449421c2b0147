/** Derives the contents of the reference page from the OpenAPI document. */

import { parseExact } from './exact-json.ts';
import type {
  Content,
  HeaderField,
  OpenApiDocument,
  OperationObject,
  Parameter,
  ResponseObject,
  Schema,
} from './openapi.ts';

/** A response that is not an error. */
export interface Success {
  readonly status: string;
  readonly description: string;
  readonly headers: readonly (readonly [name: string, field: HeaderField])[];
  readonly content?: Content;
}

/** An error that an operation can return. */
export interface Failure {
  readonly status: string;
  readonly code: string;
  /** The condition under which the operation returns this error, in Markdown. */
  readonly when?: string;
  /** An example of the response body. */
  readonly example: unknown;
}

/** The body of a request, in the first media type that the document names. */
export interface RequestBody extends Content {
  readonly type: string;
}

export interface Operation {
  /** The URL fragment that names the operation, such as `list-pets`. */
  readonly slug: string;
  readonly method: string;
  /** The path template, relative to the base URL. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly isDeprecated: boolean;
  /** The day on which the operation is due for removal from the API, such as `5 Dec 2030`. */
  readonly sunset?: string;
  readonly stability?: string;
  readonly parameters: readonly Parameter[];
  readonly body?: RequestBody;
  readonly successes: readonly Success[];
  readonly failures: readonly Failure[];
}

export interface Reference {
  readonly title: string;
  readonly version: string;
  /** The description of the API, in Markdown. */
  readonly description: string;
  /** The base URL that the document names. */
  readonly serverUrl: string;
  readonly operations: readonly Operation[];
  readonly schemas: readonly (readonly [name: string, schema: Schema])[];
  /**
   * Returns the schema, or the schema to which it refers. For an `anyOf` with `null`, returns the other schema. For a `oneOf` of
   * objects, returns an object with all their members.
   */
  resolve(schema: Schema): Schema;
}

/** Reads the text of an OpenAPI document. */
export function readReference(text: string): Reference {
  const document = resolveHeaders(parseExact(text)) as OpenApiDocument;
  const { info, servers, paths, components } = document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(path, method, operation)),
  );
  return {
    ...info,
    serverUrl: servers[0]?.url ?? '/',
    operations,
    schemas: Object.entries(components.schemas),
    resolve: ({ $ref, ...schema }) =>
      merged(
        withoutNull($ref === undefined ? schema : { ...components.schemas[schemaName($ref)], ...schema }),
      ),
  };
}

/** Replaces an `anyOf` of one schema and `null` by this schema. */
function withoutNull({ anyOf, ...schema }: Schema): Schema {
  return { ...anyOf?.find(({ type }) => type !== 'null'), ...schema };
}

/** Replaces a `oneOf` of objects by an object with all their members. Only the members that all objects require are required. */
function merged({ oneOf, ...schema }: Schema): Schema {
  if (oneOf === undefined) return schema;
  const properties = Object.assign({}, ...oneOf.map((each) => each.properties));
  const isRequired = (name: string) => oneOf.every(({ required = [] }) => required.includes(name));
  return { ...schema, properties, required: Object.keys(properties).filter(isRequired) };
}

/** Returns the name of the schema to which a reference refers. */
export function schemaName($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** Returns the id that the fragment of a URL names, or an empty text if the fragment is not valid percent-encoding. */
export function idIn(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch {
    return '';
  }
}

/** Converts a name such as `listPets` or a heading such as `Exact integers` to the fragment of a URL. */
export function slugOf(text: string): string {
  return text
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

/** Leaves out each `##` section of a Markdown text if no operation has the HTTP method that the section mentions first. */
export function guidesOfOperations(markdown: string, operations: readonly Operation[]): string {
  const isServed = (part: string) => {
    const [first] = /\b(?:GET|POST|PUT|PATCH|DELETE)\b/.exec(part) ?? [];
    return first === undefined || operations.some(({ method }) => method === first);
  };
  return markdown
    .split(/^(?=## )/m)
    .filter(isServed)
    .join('');
}

function operationOf(path: string, method: string, operation: OperationObject): Operation {
  const { operationId, summary, description, deprecated = false, parameters = [], responses } = operation;
  const [body] = Object.entries(operation.requestBody?.content ?? {}).map(([type, content]) => ({
    type,
    ...content,
  }));
  const stability = operation['x-stability'];
  const sunset = deprecated ? sunsetOf(Object.values(responses)) : undefined;
  return {
    slug: slugOf(operationId),
    method: method.toUpperCase(),
    path,
    summary,
    description,
    isDeprecated: deprecated,
    parameters,
    successes: Object.entries(responses)
      .filter(([status]) => status < '400')
      .map(([status, response]) => successOf(status, response)),
    failures: Object.entries(responses)
      .filter(([status]) => status >= '400')
      .flatMap(([status, response]) => failuresOf(status, response)),
    ...(body && { body }),
    ...(stability !== undefined && { stability }),
    ...(sunset !== undefined && { sunset }),
  };
}

function successOf(status: string, { description, headers = {}, content }: ResponseObject): Success {
  const json = content?.['application/json'];
  return { status, description, headers: Object.entries(headers), ...(json && { content: json }) };
}

/** Returns the errors that have this status. The names of the examples are the error codes. */
function failuresOf(status: string, { content }: ResponseObject): Failure[] {
  const examples = Object.entries(content?.['application/json']?.examples ?? {});
  return examples.map(([code, { summary, value }]) => ({
    status,
    code,
    example: value,
    ...(summary !== undefined && { when: summary }),
  }));
}

/** Returns the day in the `Sunset` field (RFC 8594), or `undefined` when no response has a constant value for it. */
function sunsetOf(responses: readonly ResponseObject[]): string | undefined {
  const field = responses.map(({ headers }) => headers?.['Sunset']?.schema?.const).find(isString);
  if (field === undefined) return undefined;
  const options = { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' } as const;
  return new Date(field).toLocaleDateString('en-GB', options);
}

function isString(value: unknown): value is string {
  return typeof value === 'string';
}

/** Replaces every reference to a header field with the header field. */
function resolveHeaders(document: unknown): unknown {
  const fields = (document as { components: { headers?: Record<string, unknown> } }).components.headers ?? {};
  const prefix = '#/components/headers/';
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (typeof value !== 'object' || value === null) return value;
    const { $ref } = value as { $ref?: unknown };
    if (isString($ref) && $ref.startsWith(prefix)) return fields[$ref.slice(prefix.length)];
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, visit(member)]));
  };
  return visit(document);
}
