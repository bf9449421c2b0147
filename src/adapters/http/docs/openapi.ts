import { gzipSync } from 'node:zlib';
import type { RouterMiddleware } from '@koa/router';
import { DOCUMENTS, documentNameOf, documentOptions, type LifecycleDocument } from '../lifecycle.ts';
import type { HttpOptions } from '../options.ts';
import { BASE_PATH } from '../paths.ts';
import { entityTag } from '../respond.ts';
import type { ApiState } from '../state.ts';
import { builtFile, type Encodings, encodings, respondNegotiated } from './built-files.ts';

/** A built document: the parts around the URL of the server. */
const template = (name: string) =>
  builtFile(name, (content) => {
    const [before = '', after = ''] = String(content).split(serversOf(BASE_PATH));
    return { before, after };
  });

const TEMPLATES = Object.fromEntries(Object.keys(DOCUMENTS).map((name) => [name, template(name)]));

interface DocumentOptions extends LifecycleDocument {
  readonly indent?: number;
}

/**
 * Returns the OpenAPI document as JSON, in which all integers are exact.
 *
 * @param origin the public base URL, such as `https://pets.example.org`; `/v1` is added if missing; if `origin` is
 *   empty, the server URL is relative to the URL of the document
 * @param options `indent` is the number of spaces per level of indentation; by default the document is a single line
 */
export function openApiDocument(origin: string, options: DocumentOptions = {}): string {
  const { indent = 0 } = options;
  const { before, after } = (TEMPLATES[documentNameOf(options)] as ReturnType<typeof template>)();
  const text = `${before}${serversOf(serverUrlOf(origin))}${after}`;
  return indent === 0 ? text : indentedJson(text, indent);
}

/** The document contains the URL of the server: `publicUrl`, or else one that is relative to the URL of the document. */
export function openApi(options: HttpOptions): RouterMiddleware<ApiState> {
  const { publicUrl = '' } = options;
  let created: Encodings | undefined;
  const create = () => {
    const content = Buffer.from(openApiDocument(publicUrl, { ...documentOptions(options) }));
    return encodings(content, gzipSync(content), entityTag(content), 'application/json');
  };
  return (ctx) => {
    created ??= create();
    respondNegotiated(ctx, created);
  };
}

/** `JSON.rawJSON` exists in every supported version of Node.js, but not yet in the types of TypeScript. */
const { rawJSON } = JSON as typeof JSON & { rawJSON(text: string): unknown };

/** Returns JSON with this number of spaces per level of indentation. Each number is unchanged. */
function indentedJson(text: string, indent: number): string {
  return JSON.stringify(
    JSON.parse(text, unchanged as (key: string, value: unknown) => unknown),
    null,
    indent,
  );
}

function unchanged(_key: string, value: unknown, { source }: { source: string }): unknown {
  return typeof value === 'number' ? rawJSON(source) : value;
}

function serversOf(url: string): string {
  return `"servers":${JSON.stringify([{ url }])}`;
}

/** Returns the base URL of the API: the public URL, with {@link BASE_PATH} added if missing. */
export function serverUrlOf(publicUrl: string): string {
  const url = publicUrl.replace(/\/+$/, '');
  return url.endsWith(BASE_PATH) ? url : url + BASE_PATH;
}

/**
 * Returns the path in front of `/v1` in the base URL: `/shop` for `https://example.org/shop`. A proxy removes this path
 * from requests, so the server adds it to the links in responses.
 */
export function pathPrefixOf(publicUrl: string | undefined): string {
  if (publicUrl === undefined) return '';
  const url = new URL(serverUrlOf(publicUrl));
  // A link that starts with two slashes would lead to another host.
  return url.pathname.slice(0, -BASE_PATH.length).replace(/^\/+/, '/');
}
