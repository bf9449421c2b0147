/** The framing of bodies: lengths, chunks, extensions and trailers, valid and invalid. */

import type { Random } from '../random.ts';
import { BODY_LIMIT, type Context, create, type Draft, draftOf, type Request } from './request.ts';

export function framing(random: Random, context: Context): Draft {
  const request = create(context, random);
  request.fields = request.fields.filter((line) => !line.startsWith('Content-Length'));
  const [name, change] = random.pick(Object.entries(CHANGES));
  const isComplete = change(request, random);
  return { ...draftOf(`framing: ${name}`, request), isComplete };
}

const EXTENSIONS = [';x', ';x=y', ';x="y z"', ';a=b;c=d', ';x="\\""'];
const BROKEN_EXTENSIONS = [
  ...';| ;x|;x y|;=|;x="|;x\n|;x\r|;\0|;\xff|,x'.split('|'),
  `;${'x'.repeat(17_000)}`,
];
const TRAILERS = ['X: y\r\n', 'X: y\r\nZ: a\r\n', 'Content-Type: text/plain\r\n'];
const BROKEN_TRAILERS = [
  ...'X\r\n|: x\r\n|X: a\0b\r\n| X: y\r\n|X: y\n|Content-Length: 5\r\n|Transfer-Encoding: chunked\r\n'.split(
    '|',
  ),
  `X: ${'y'.repeat(20_000)}\r\n`,
  'X: y\r\n'.repeat(5000),
];
/** A server may wait for a chunk of this size. */
const LARGEST_SIZE = 'f'.repeat(16);
const BAD_SIZES = [...'| |-1|+5|0x5|g|5 5|fffffffffffffffff|\xb2|5,|"5"'.split('|'), LARGEST_SIZE];
const BAD_LENGTHS = '|-1|-0|five|0x|1 1|1,2|18446744073709551616|\xb2|NaN|1e|;|\0'.split('|');
const CODINGS = 'gzip|identity|x||chunked, identity|chunked, gzip|chunked;q=1|chunked, chunked'.split('|');

/** Frames the body. Returns whether the server can find the end of the request. */
type Change = (request: Request, random: Random) => boolean;

const CHANGES: Readonly<Record<string, Change>> = {
  chunks: (request, random) => chunked(request, random.chance(0.2) ? {} : { sizes: random }),
  'chunk extensions': (request, random) =>
    chunked(request, { extension: random.pick(EXTENSIONS), sizes: random }),
  'broken chunk extensions': (request, random) =>
    expecting(
      undefined,
      chunked(request, { extension: random.pick(BROKEN_EXTENSIONS), sizes: random }),
      request,
    ),
  trailers: (request, random) => chunked(request, { trailers: random.pick(TRAILERS), sizes: random }),
  'broken trailers': (request, random) =>
    expecting(
      undefined,
      chunked(request, { trailers: random.pick(BROKEN_TRAILERS), sizes: random }),
      request,
    ),
  'a chunk size that is none': (request, random) => {
    const size = random.pick(BAD_SIZES);
    coded(request, `${size}\r\n${request.body}\r\n0\r\n\r\n`);
    return expecting([400, 413], size !== LARGEST_SIZE, request);
  },
  'a chunk that is larger or smaller than its size': (request, random) => {
    const by = random.pick([-3, 3]);
    coded(request, `${(request.body.length + by).toString(16)}\r\n${request.body}\r\n0\r\n\r\n`);
    return expecting([400], by < 0, request);
  },
  'no last chunk': (request) =>
    coded(request, `${request.body.length.toString(16)}\r\n${request.body}\r\n`) && false,
  'bare LF in chunks': (request) => {
    coded(request, `${request.body.length.toString(16)}\n${request.body}\n0\n\n`);
    return expecting(undefined, false, request);
  },
  'another coding': (request, random) => {
    coded(request, request.body, random.pick(CODINGS));
    return expecting(undefined, false, request);
  },
  'the right length': (request) => lengths(request, request.body.length),
  'a length that is none': (request, random) =>
    expecting([400], lengths(request, random.pick(BAD_LENGTHS)), request),
  'lengths that differ': (request) => expecting([400], lengths(request, request.body.length, 5), request),
  'a length and chunks': (request, random) => {
    const length = random.pick([0, 5, request.body.length]);
    chunked(request);
    return expecting([400], lengths(request, length), request);
  },
  'a length that is too small': (request, random) =>
    expecting([400], lengths(request, random.below(request.body.length)), request),
  'a length that is too large': (request, random) => {
    lengths(request, request.body.length + random.pick([1, 5, 1000]));
    return expecting([400], false, request);
  },
  'a length beyond the limit': (request, random) => {
    lengths(request, random.pick([BODY_LIMIT + 1, 1e9, '9007199254740993']));
    return expecting([413, 400], false, request);
  },
  'a body beyond the limit': (request, random) => {
    request.body = request.body.padEnd(BODY_LIMIT + random.pick([1, 5000, 300_000]));
    return expecting([413], wholeOf(request, random), request);
  },
  'a body at the limit': (request, random) => {
    request.body = request.body.padEnd(BODY_LIMIT);
    return wholeOf(request, random);
  },
  'neither length nor chunks': (request) => expecting([400], true, request),
};

interface Chunks {
  /** Cuts the body at random offsets; when left out, each byte is a chunk. */
  readonly sizes?: Random;
  readonly extension?: string;
  readonly trailers?: string;
}

function chunked(request: Request, { sizes, extension = '', trailers = '' }: Chunks = {}): boolean {
  let rest = request.body;
  let text = '';
  while (rest !== '') {
    const size = Math.min(rest.length, sizes?.between(1, 40) ?? 1);
    const digits = sizes?.chance(0.3) ? `00${size.toString(16).toUpperCase()}` : size.toString(16);
    text += `${digits}${extension}\r\n${rest.slice(0, size)}\r\n`;
    rest = rest.slice(size);
  }
  return coded(request, `${text}0${extension}\r\n${trailers}\r\n`);
}

/** Sends the body with its length, or as one chunk. */
function wholeOf(request: Request, random: Random): boolean {
  const { body } = request;
  if (random.chance(0.5)) return lengths(request, body.length);
  return coded(request, `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`);
}

function coded(request: Request, body: string, coding = 'chunked'): boolean {
  request.body = body;
  request.fields.push(`Transfer-Encoding: ${coding}`);
  return true;
}

function lengths(request: Request, ...values: readonly (number | string)[]): boolean {
  request.fields.push(...values.map((value) => `Content-Length: ${value}`));
  return true;
}

/** @param statuses `undefined` where the standard allows a server to accept or to refuse the request */
function expecting(statuses: Request['expected'], isComplete: boolean, request: Request): boolean {
  request.expected = statuses;
  return isComplete;
}
