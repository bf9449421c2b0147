/** The framing of bodies: lengths, chunks, extensions and trailers, valid and invalid. */

import type { Random } from '../random.ts';
import { type Context, create, type Draft, draftOf, type Request, utf8 } from './request.ts';

export function framing(random: Random, context: Context): Draft {
  const request = create(context, random);
  request.fields = request.fields.filter((line) => !line.startsWith('Content-Length'));
  const [name, change] = random.pick(Object.entries(CHANGES));
  const isComplete = change(request, random);
  return { ...draftOf(`framing: ${name}`, request), isComplete };
}

const EXTENSIONS = [';x', ';x=y', ';x="y"', ';x="y z"', ';a=b;c=d', ';x="\\""'];
const BROKEN_EXTENSIONS = ';| ;x|;x y|;=|;x="| |;x\n|;x\r|;\0|;\xff|;x="\r\n"|,x'.split('|');
const TRAILERS = ['X: y\r\n', 'X: y\r\nZ: a\r\n', 'Content-Type: text/plain\r\n'];
const BROKEN_TRAILERS = [
  ...(
    'X\r\n|: x\r\n|X Y: z\r\n|X: a\0b\r\n| X: y\r\n|X: y\n|Content-Length: 5\r\n|' +
    'Transfer-Encoding: chunked\r\n|Host: y\r\n|Authorization: Bearer x\r\n'
  ).split('|'),
  `X: ${'y'.repeat(20_000)}\r\n`,
];
/** A server may wait for a chunk of this size. */
const LARGEST_SIZE = 'f'.repeat(16);
const BAD_SIZES = [
  ...'| |-1|+5|0x5|g|5 5|fffffffffffffffff|\xb2|5,|"5"|\t5|5h'.split('|'),
  LARGEST_SIZE,
  '1'.repeat(5000),
];
const BAD_LENGTHS =
  '|-1|-0|five|0x|1 1|1,2|99999999999999999999999|18446744073709551616|\xb2|NaN|1e|;|\0'.split('|');
const CODINGS =
  'gzip|identity|x||chunked, identity|chunked, gzip|chunked;q=1|"chunked"|chunked, chunked|gzip, chunked'.split(
    '|',
  );

/** Frames the body. Returns whether the server can find the end of the request. */
type Change = (request: Request, random: Random) => boolean;

const CHANGES: Readonly<Record<string, Change>> = {
  chunks: (request, random) => chunked(request, { sizes: random }),
  'chunks of one byte': (request) => chunked(request, {}),
  'chunk extensions': (request, random) =>
    chunked(request, { extension: random.pick(EXTENSIONS), sizes: random }),
  'broken chunk extensions': (request, random) =>
    odd(chunked(request, { extension: random.pick(BROKEN_EXTENSIONS), sizes: random }), request),
  'endless chunk extensions': (request, random) =>
    refused(
      chunked(request, { extension: `;${'x'.repeat(random.pick([17_000, 100_000]))}` }),
      request,
      [400, 413, 431],
    ),
  trailers: (request, random) => chunked(request, { trailers: random.pick(TRAILERS), sizes: random }),
  'broken trailers': (request, random) =>
    odd(chunked(request, { trailers: random.pick(BROKEN_TRAILERS), sizes: random }), request),
  'too many trailers': (request) => odd(chunked(request, { trailers: 'X: y\r\n'.repeat(5000) }), request),
  'a chunk size that is none': (request, random) => {
    const size = random.pick(BAD_SIZES);
    request.body = `${size}\r\n${request.body}\r\n0\r\n\r\n`;
    return refused(codedAs(request, 'chunked'), request, [400, 413]) && size !== LARGEST_SIZE;
  },
  'a chunk that is larger than its size': (request) => {
    request.body = `${(request.body.length - 3).toString(16)}\r\n${request.body}\r\n0\r\n\r\n`;
    return refused(codedAs(request, 'chunked'), request, [400]);
  },
  'a chunk that is smaller than its size': (request) => {
    request.body = `${(request.body.length + 3).toString(16)}\r\n${request.body}\r\n0\r\n\r\n`;
    return refused(codedAs(request, 'chunked'), request, [400]) && false;
  },
  'no last chunk': (request) => {
    request.body = `${request.body.length.toString(16)}\r\n${request.body}\r\n`;
    return codedAs(request, 'chunked') && false;
  },
  'bare LF in chunks': (request) => {
    request.body = `${request.body.length.toString(16)}\n${request.body}\n0\n\n`;
    return odd(codedAs(request, 'chunked'), request) && false;
  },
  'nothing behind the size': (request) => {
    request.body = '5';
    return codedAs(request, 'chunked') && false;
  },
  'no chunk but the last': (request) => {
    request.body = '0\r\n\r\n';
    return refused(codedAs(request, 'chunked'), request, [400]);
  },
  'chunked in another case': (request) => chunked(request, { coding: 'Chunked' }),
  'another coding': (request, random) => odd(codedAs(request, random.pick(CODINGS)), request) && false,
  'the right length': (request) => lengths(request, [String(request.body.length)]),
  'the right length twice': (request) =>
    odd(lengths(request, Array(2).fill(String(request.body.length))), request),
  'the right length in odd ways': (request, random) => {
    const { length } = request.body;
    const hex = length.toString(16);
    const odds = `0N|000000000N|+N| N |N,N|N;|N.0|Ne0|0x${hex}|"N"`
      .replaceAll('N', String(length))
      .split('|');
    return odd(lengths(request, [random.pick(odds)]), request) && false;
  },
  'a length that is none': (request, random) =>
    refused(lengths(request, [random.pick(BAD_LENGTHS)]), request, [400]),
  'lengths that differ': (request) =>
    refused(lengths(request, [String(request.body.length), '5']), request, [400]),
  'a length and chunks': (request, random) => {
    const length = String(random.pick([0, 5, request.body.length]));
    chunked(request, {});
    return refused(lengths(request, [length]), request, [400]);
  },
  'a length that is too small': (request, random) =>
    refused(lengths(request, [String(random.below(request.body.length))]), request, [400]),
  'a length that is too large': (request, random) => {
    const length = request.body.length + random.pick([1, 5, 1000]);
    return refused(lengths(request, [String(length)]), request, [400]) && false;
  },
  'a length beyond the limit': (request, random) => {
    const length = random.pick(['65537', '1000000000', '9007199254740993']);
    return refused(lengths(request, [length]), request, [413, 400]) && false;
  },
  'a body beyond the limit': (request, random) => {
    request.body = request.body.padEnd(random.pick([65_537, 70_000, 300_000]));
    const isComplete = random.chance(0.5)
      ? chunked(request, { whole: true })
      : lengths(request, [String(request.body.length)]);
    return refused(isComplete, request, [413]);
  },
  'a body at the limit': (request, random) => {
    request.body = request.body.padEnd(65_536);
    return random.chance(0.5) ? chunked(request, { whole: true }) : lengths(request, ['65536']);
  },
  'neither length nor chunks': (request) => refused(true, request, [400]),
  'a body on a GET': (request, random) => {
    request.method = random.pick(['GET', 'HEAD', 'OPTIONS', 'DELETE']);
    request.expected = request.method === 'DELETE' ? [405] : request.method === 'OPTIONS' ? [204] : [200];
    return random.chance(0.5)
      ? chunked(request, { sizes: random })
      : lengths(request, [String(request.body.length)]);
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

function chunked(
  request: Request,
  { sizes, whole = false, extension = '', trailers = '', coding = 'chunked' }: Chunks,
): boolean {
  let rest = request.body;
  let text = '';
  while (rest !== '') {
    const size = whole ? rest.length : Math.min(rest.length, sizes?.between(1, 40) ?? 1);
    const digits = size.toString(16);
    const written = sizes?.chance(0.3) ? `00${digits.toUpperCase()}` : digits;
    text += `${written}${extension}\r\n${rest.slice(0, size)}\r\n`;
    rest = rest.slice(size);
  }
  request.body = `${text}0${extension}\r\n${trailers}\r\n`;
  return codedAs(request, coding);
}

function codedAs(request: Request, coding: string): boolean {
  request.fields.push(utf8(`Transfer-Encoding: ${coding}`));
  return true;
}

function lengths(request: Request, values: readonly string[]): boolean {
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
