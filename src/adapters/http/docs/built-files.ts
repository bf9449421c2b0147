import { readFileSync } from 'node:fs';
import type { RouterContext } from '@koa/router';
import { AnimalStoreError } from '../../../domain/errors.ts';
import { type Representation, respondRevalidated } from '../respond.ts';
import type { ApiState } from '../state.ts';

/** Where `npm run build` writes files. The path is the same from this file in `src` and from the built one in `dist`. */
const FOLDER = '../../../../dist/docs/';

/** Creates a function that returns a parsed file, which is read at once, so that requests need no file descriptor. */
export function builtFile<T>(name: string, parse: (content: Buffer) => T): () => T {
  let parsed: T | undefined;
  const load = () => (parsed ??= parse(read(name)));
  try {
    load();
  } catch {
    // The next call reads the file again. If this fails too, the client gets a response with status 404 or 503.
  }
  return load;
}

function read(name: string): Buffer {
  try {
    // In a bundle, the URL of the module can be missing.
    return readFileSync(new URL(name, new URL(FOLDER, import.meta.url)));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    // A bundle contains no such files, and its URL may be invalid.
    if (code === 'ENOENT' || code === 'ERR_INVALID_URL' || code === undefined) {
      throw new AnimalStoreError('not_found', 'the documentation is not part of this program', { cause });
    }
    throw new AnimalStoreError('overloaded', 'the documentation cannot be read at the moment', { cause });
  }
}

export interface Encodings {
  readonly identity: Representation;
  readonly gzip: Representation;
}

const GZIP = /^\s*(?:x-)?gzip\s*$/i;
const NOT_ACCEPTED = /^\s*q=0(?:\.0*)?\s*$/i;

/** @param etag the entity tag of the content */
export function encodings(identity: Buffer, gzip: Buffer, etag: string, type: string): Encodings {
  // The codings have different strong entity tags, as RFC 9110, section 8.8.3, requires.
  const gzipEtag = etag.replace(/"$/, '-gzip"');
  return { identity: { body: identity, etag, type }, gzip: { body: gzip, etag: gzipEtag, type } };
}

export function respondNegotiated(ctx: RouterContext<ApiState>, { identity, gzip }: Encodings): void {
  const isGzip = acceptsGzip(ctx.get('accept-encoding'));
  respondRevalidated(ctx, isGzip ? gzip : identity);
  if (isGzip && ctx.status === 200) ctx.set('Content-Encoding', 'gzip');
  ctx.vary('Accept-Encoding');
}

function acceptsGzip(field: string): boolean {
  return field.split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';');
    return GZIP.test(name) && !parameters.some((parameter) => NOT_ACCEPTED.test(parameter));
  });
}
