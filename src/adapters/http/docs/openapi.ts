import { gzipSync } from 'node:zlib';
import { fieldOf, type Stage } from '../api/context.ts';
import { indentedJson } from '../api/exact-json.ts';
import type { HttpOptions } from '../api/options.ts';
import { BASE_PATH, serverUrlOf } from '../api/public-url.ts';
import { entityTag } from '../api/responses.ts';
import { builtFile } from './built-file.ts';
import { type Encodings, encodings, respondNegotiated } from './encodings.ts';

/** The built document, whose server URL is {@link BASE_PATH}. */
const template = builtFile('openapi.json', String);

/**
 * Returns the OpenAPI document as JSON, in which all integers are exact.
 *
 * @param origin the public base URL, such as `https://pets.example.org`; `/v1` is added if missing; if `origin` is
 *   empty, the server URL is relative to the URL of the document
 * @param options `indent` is the number of spaces per level of indentation; by default the document is a single line
 */
export function openApiDocument(origin: string, { indent = 0 }: { readonly indent?: number } = {}): string {
  const text = template().replace(serversOf(BASE_PATH), () => serversOf(serverUrlOf(origin)));
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
      // Everybody could have the document compressed for another host each time.
      const gzip = publicUrl === undefined ? undefined : gzipSync(content, { level: 9 });
      last = encodings(content, gzip, entityTag(content), 'application/json');
      lastOrigin = origin;
    }
    respondNegotiated(ctx, last);
  };
}

function serversOf(url: string): string {
  return `"servers":${JSON.stringify([{ url }])}`;
}
