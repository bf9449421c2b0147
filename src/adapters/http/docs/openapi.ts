import { fieldOf, type Stage } from '../api/context.ts';
import { indentedJson } from '../api/exact-json.ts';
import type { HttpOptions } from '../api/options.ts';
import { BASE_PATH, serverUrlOf } from '../api/public-url.ts';
import { entityTag } from '../api/responses.ts';
import { builtFile } from './built-file.ts';
import { type Encodings, encodings, respondNegotiated } from './encodings.ts';
import { splicedGzip } from './spliced-gzip.ts';

/** The built document: the parts around the URL of the server, and what compresses them. */
const template = builtFile('openapi.json', (content) => {
  const [before = '', after = ''] = String(content).split(serversOf(BASE_PATH));
  return { before, after, compress: splicedGzip(before, after) };
});

/**
 * Returns the OpenAPI document as JSON, in which all integers are exact.
 *
 * @param origin the public base URL, such as `https://pets.example.org`; `/v1` is added if missing; if `origin` is
 *   empty, the server URL is relative to the URL of the document
 * @param options `indent` is the number of spaces per level of indentation; by default the document is a single line
 */
export function openApiDocument(origin: string, { indent = 0 }: { readonly indent?: number } = {}): string {
  const { before, after } = template();
  const text = `${before}${serversOf(serverUrlOf(origin))}${after}`;
  return indent === 0 ? text : indentedJson(text, indent);
}

/** The document contains the URL of the server: `publicUrl`, or else one that is derived from the `Host` of the request. */
export function openApi({ publicUrl }: HttpOptions): Stage {
  let lastOrigin: string | undefined;
  let last: Encodings;
  return (ctx) => {
    const host = fieldOf(ctx, 'host');
    // Without a `Host`, the URL of the server is relative to the URL of the document.
    const origin = publicUrl ?? (host ? `${ctx.state.animalStore.scheme}://${host}` : '');
    if (origin !== lastOrigin) {
      const content = Buffer.from(openApiDocument(origin));
      const gzip = template().compress(serversOf(serverUrlOf(origin)));
      last = encodings(content, gzip, entityTag(content), 'application/json');
      lastOrigin = origin;
    }
    respondNegotiated(ctx, last);
  };
}

function serversOf(url: string): string {
  return `"servers":${JSON.stringify([{ url }])}`;
}
