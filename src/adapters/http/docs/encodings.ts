import { type Context, fieldOf } from '../api/context.ts';
import { type Representation, respondRevalidated } from '../api/responses.ts';

export interface Encodings {
  readonly identity: Representation;
  readonly gzip: Representation;
}

const GZIP = /^\s*(?:x-)?gzip\s*$/i;
const NOT_ACCEPTED = /^\s*q=0(?:\.0*)?\s*$/i;

/** @param etag the entity tag of the content */
export function encodings(identity: Buffer, gzip: Buffer, etag: string, type: string): Encodings {
  return {
    identity: { body: identity, etag, type },
    // The codings have different strong entity tags, as RFC 9110, section 8.8.3, requires.
    gzip: { body: gzip, etag: etag.replace(/"$/, '-gzip"'), type, encoding: 'gzip' },
  };
}

export function respondNegotiated(ctx: Context, { identity, gzip }: Encodings): void {
  respondRevalidated(ctx, acceptsGzip(fieldOf(ctx, 'accept-encoding')) ? gzip : identity);
  ctx.vary('Accept-Encoding');
}

function acceptsGzip(field = ''): boolean {
  return field.split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';');
    return GZIP.test(name) && !parameters.some((parameter) => NOT_ACCEPTED.test(parameter));
  });
}
