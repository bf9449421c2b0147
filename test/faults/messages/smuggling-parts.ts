/** Parts of requests that hide another one: framing that two servers read differently, and bodies that are not used. */

import type { Random } from '../random.ts';
import { anyKey, type Context, get, type Request } from './request.ts';

export interface Trick {
  readonly hidden: string;
  readonly random: Random;
  readonly context: Context;
}

/** Transfer-Encodings that a server must read as chunked or refuse. With a Content-Length, it must refuse them. */
export const CODINGS: readonly string[] = [
  ...(
    ': chunked|: Chunked|:\tchunked|: xchunked|: chunkedx|: chunked, identity|: identity, chunked|: identity|' +
    ': chunked;q=1|: "chunked"|: \'chunked\'|: \x0bchunked|: \x0cchunked|: chunked\x0b|: chunked, chunked|' +
    ': ,chunked|: chunked,|: chu\\nked|: |: \xffchunked|: chunked\0|: gzip|: c| : chunked|\t: chunked|' +
    ':\r\n chunked|: chunked\r\nTransfer-Encoding: identity|: identity\r\nTransfer-Encoding: chunked|' +
    ': chunked\r\nTransfer-Encoding: x|: x\r\nTransfer-Encoding: chunked|' +
    ': chunked\r\nTransfer-Encoding: chunked'
  )
    .split('|')
    .map((rest) => `Transfer-Encoding${rest}`),
  'transfer-encoding:chunked',
  ...['\n', '\r', '\r\n '].map((end) => `X: y${end}Transfer-Encoding: chunked`),
];

/** A folded line. A server that unfolds it may use it or the Content-Length; both are correct. */
export const isFolded = (coding: string): boolean => coding.includes('\r\n ');

/** The framing is chunked if the list ends in chunked. A list may have empty elements (RFC 9112, section 6.3). */
export const isChunked = (coding: string): boolean =>
  /(:|,) ?\t?chunked,?$/i.test(coding) && !/chunked,? chunked$/.test(coding);

/** Lengths that a server must refuse. If it ignored them, the hidden request would run. */
export const LENGTHS: readonly ((length: number) => string)[] = [
  (length) => `Content-Length: ${length}\r\nContent-Length: 0`,
  (length) => `Content-Length: 0\r\nContent-Length: ${length}`,
  (length) => `Content-Length: 0, ${length}`,
  (length) => `Content-Length: ${length}, 0`,
  () => 'Content-Length: +0',
  () => 'Content-Length: -0',
  () => 'Content-Length: 0x0',
  () => 'Content-Length: 0 0',
  () => 'Content-Length: \x0b0',
  () => 'Content-Length: ',
  () => 'Content-Length : 0',
  () => 'Content-Length: 0\0',
];

/** Requests that are refused or use no body. The server must skip their body, not run it. */
export const REFUSALS: readonly ((trick: Trick) => Request)[] = [
  () => ({ ...get('/v1/pets', undefined, [401]), method: 'POST' }),
  () => get('/v1/pets', undefined, [401]),
  ({ random, context }) => get('/v1/pets', anyKey(context, random), [200]),
  ({ random, context }) => ({ ...get('/v1/pets', anyKey(context, random), [200]), method: 'HEAD' }),
  ({ random, context }) => ({ ...get('/v1/pets', anyKey(context, random), [204]), method: 'OPTIONS' }),
  ({ random, context }) => ({ ...get('/v1/pets/1', anyKey(context, random), [405]), method: 'PUT' }),
  ({ random, context }) => ({ ...get('/v1/pets', anyKey(context, random), [415]), method: 'POST' }),
  ({ random, context }) => ({ ...get('/v1/nothing', anyKey(context, random), [404]), method: 'POST' }),
  () => ({ ...get('/nothing', undefined, [404]), method: 'POST' }),
  () => get('/livez', undefined, [200]),
  () => ({ ...get('/livez', undefined, [405]), method: 'TRACE' }),
  () => get('http://', undefined, [400]),
];
