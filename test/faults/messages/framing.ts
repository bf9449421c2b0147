/** The framing of bodies: lengths, chunks, extensions and trailers, valid and invalid. */

import type { Random } from '../random.ts';
import { BODY_LIMIT, type Context, create, type Draft, draftOf, type Request, utf8 } from './request.ts';

export function framing(random: Random, context: Context): Draft {
  const request = create(context, random);
  request.fields = request.fields.filter((line) => !line.startsWith('Content-Length'));
  const [name, change] = random.pick(Object.entries(CHANGES));
  const isComplete = change(request, random);
  return { ...draftOf(`framing: ${name}`, request), isComplete };
}

const EXTENSIONS = [';x', ';x=y', ';x="y z"', ';a=b;c=d', ';x="\\""'];
const BROKEN_EXTENSIONS = ';| ;x|;x y|;=|;x="| |;x\n|;x\r|;\0|;\xff|,x'.split('|');
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
  chunks: (request, random) =>
    chunked(request, { sizes: random, coding: random.pick(['chunked', 'Chunked']) }),
  'chunks of one byte': (request) => chunked(request),
  'chunk extensions': (request, random) =>
    chunked(request, { extension: random.pick(EXTENSIONS), sizes: random }),
  'broken chunk extensions': (request, random) =>
    odd(chunked(request, { extension: random.pick(BROKEN_EXTENSIONS), sizes: random }), request),
  'endless chunk extensions': (request) =>
    refused(chunked(request, { extension: `;${'x'.repeat(17_000)}` }), request, [400, 413, 431]),
  trailers: (request, random) => chunked(request, { trailers: random.pick(TRAILERS), sizes: random }),
  'broken trailers': (request, random) =>
    odd(chunked(request, { trailers: random.pick(BROKEN_TRAILERS), sizes: random }), request),
  'a chunk size that is none': (request, random) => {
    const size = random.pick(BAD_SIZES);
    return (
      refused(coded(request, `${size}\r\n${request.body}\r\n0\r\n\r\n`), request, [400, 413]) &&
      size !== LARGEST_SIZE
    );
  },
  'a chunk that is larger or smaller than its size': (request, random) => {
    const by = random.pick([-3, 3]);
    const body = `${(request.body.length + by).toString(16)}\r\n${request.body}\r\n0\r\n\r\n`;
    return refused(coded(request, body), request, [400]) && by < 0;
  },
  'no last chunk': (request) =>
    coded(request, `${request.body.length.toString(16)}\r\n${request.body}\r\n`) && false,
  'bare LF in chunks': (request) =>
    odd(coded(request, `${request.body.length.toString(16)}\n${request.body}\n0\n\n`), request) && false,
  'no chunk but the last': (request) => refused(coded(request, '0\r\n\r\n'), request, [400]),
  'another coding': (request, random) =>
    odd(coded(request, request.body, random.pick(CODINGS)), request) && false,
  'the right length': (request) => lengths(request, request.body.length),
  'the right length in odd ways': (request, random) => {
    const odds = '0N|000000000N|+N| N |N,N|N;|N.0|Ne0|"N"'
      .replaceAll('N', String(request.body.length))
      .split('|');
    return odd(lengths(request, random.pick(odds)), request) && false;
  },
  'a length that is none': (request, random) =>
    refused(lengths(request, random.pick(BAD_LENGTHS)), request, [400]),
  'lengths that differ': (request) => refused(lengths(request, request.body.length, 5), request, [400]),
  'a length and chunks': (request, random) => {
    const length = random.pick([0, 5, request.body.length]);
    chunked(request);
    return refused(lengths(request, length), request, [400]);
  },
  'a length that is too small': (request, random) =>
    refused(lengths(request, random.below(request.body.length)), request, [400]),
  'a length that is too large': (request, random) =>
    refused(lengths(request, request.body.length + random.pick([1, 5, 1000])), request, [400]) && false,
  'a length beyond the limit': (request, random) =>
    refused(lengths(request, random.pick([BODY_LIMIT + 1, 1e9, '9007199254740993'])), request, [413, 400]) &&
    false,
  'a body beyond the limit': (request, random) => {
    request.body = request.body.padEnd(BODY_LIMIT + random.pick([1, 5000, 300_000]));
    return refused(wholeOf(request, random), request, [413]);
  },
  'a body at the limit': (request, random) => {
    request.body = request.body.padEnd(BODY_LIMIT);
    return wholeOf(request, random);
  },
  'neither length nor chunks': (request) => refused(true, request, [400]),
  'a body on a GET': (request, random) => {
    request.method = random.pick(['GET', 'HEAD', 'OPTIONS', 'DELETE']);
    request.expected = [{ DELETE: 405, OPTIONS: 204 }[request.method] ?? 200];
    return wholeOf(request, random);
  },
};

interface Chunks {
  /** Cuts the body at random offsets; when left out, each byte is a chunk. */
  readonly sizes?: Random;
  readonly whole?: boolean;
  readonly extension?: string;
  readonly trailers?: string;
  readonly coding?: string;
}

function chunked(request: Request, chunks: Chunks = {}): boolean {
  const { sizes, whole = false, extension = '', trailers = '', coding } = chunks;
  let rest = request.body;
  let text = '';
  while (rest !== '') {
    const size = whole ? rest.length : Math.min(rest.length, sizes?.between(1, 40) ?? 1);
    const digits = size.toString(16);
    const written = sizes?.chance(0.3) ? `00${digits.toUpperCase()}` : digits;
    text += `${written}${extension}\r\n${rest.slice(0, size)}\r\n`;
    rest = rest.slice(size);
  }
  return coded(request, `${text}0${extension}\r\n${trailers}\r\n`, coding);
}

/** Sends the body with its length, or as one chunk. */
function wholeOf(request: Request, random: Random): boolean {
  return random.chance(0.5) ? chunked(request, { whole: true }) : lengths(request, request.body.length);
}

function coded(request: Request, body: string, coding = 'chunked'): boolean {
  request.body = body;
  request.fields.push(utf8(`Transfer-Encoding: ${coding}`));
  return true;
}

function lengths(request: Request, ...values: readonly (number | string)[]): boolean {
  request.fields.push(...values.map((value) => `Content-Length: ${value}`));
  return true;
}

function refused(isComplete: boolean, request: Request, statuses: readonly number[]): boolean {
  request.expected = statuses;
  return isComplete;
}

/** The standard allows a server to accept or to refuse these. */
function odd(isComplete: boolean, request: Request): boolean {
  request.expected = undefined;
  return isComplete;
}
