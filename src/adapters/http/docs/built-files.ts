/** Reads the files of the documentation that `npm run build` writes, and sends them, compressed if possible. */

import { readFileSync } from 'node:fs';
import { AnimalStoreError } from '../../../domain/errors.ts';
import { type Representation, respondRevalidated } from '../respond.ts';
import type { ApiContext } from '../state.ts';

/** The folder of the built files. This relative path is right for this file in `src`, and also for its compiled file in `dist`. */
const FOLDER = '../../../../dist/docs/';

/** Reads a file immediately, so that requests need no file descriptor. If the file is missing, the returned function throws. */
export function builtFile<T>(name: string, parse: (content: Buffer) => T): () => T {
  try {
    const parsed = parse(readFileSync(new URL(name, new URL(FOLDER, import.meta.url))));
    return () => parsed;
  } catch (cause) {
    return () => {
      throw new AnimalStoreError('not_found', 'the documentation is not part of this program', { cause });
    };
  }
}

export interface Encodings {
  readonly identity: Representation;
  readonly gzip: Representation;
}

/** @param etag the entity tag of `identity`; the entity tag of `gzip` is derived from it */
export function encodings(identity: Buffer, gzip: Buffer, etag: string, type: string): Encodings {
  // Each coding needs its own strong entity tag (RFC 9110, section 8.8.3).
  const gzipEtag = etag.replace(/"$/, '-gzip"');
  return { identity: { body: identity, etag, type }, gzip: { body: gzip, etag: gzipEtag, type } };
}

export function respondNegotiated(ctx: ApiContext, { identity, gzip }: Encodings): void {
  const isGzip = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
  respondRevalidated(ctx, isGzip ? gzip : identity);
  if (isGzip && ctx.status === 200) ctx.set('Content-Encoding', 'gzip');
  ctx.vary('Accept-Encoding');
}
