/** Header fields that are unusual, invalid, duplicate, large or numerous. */

import type { Random } from '../random.ts';
import { anyRequest, type Context, type Draft, draftOf, type Request } from './request.ts';

/**
 * Changes the fields. Returns the correct statuses; `undefined` when the change must have no effect, `any` when the
 * standards leave the status open.
 */
type Change = (request: Request, random: Random) => readonly number[] | 'any' | undefined;

export function headerFields(random: Random, context: Context): Draft {
  const request = anyRequest(context, random);
  const chosen = random.shuffled(Object.keys(CHANGES)).slice(0, random.between(1, 3));
  const outcomes = chosen.map((name) => CHANGES[name]?.(request, random));
  const faults = outcomes.filter((outcome) => Array.isArray(outcome)).flat() as number[];
  if (outcomes.includes('any')) request.expected = undefined;
  else if (faults.length > 0) request.expected = [...new Set(faults)];
  return draftOf(chosen.join(' + '), request);
}

const TOKEN = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const HARMLESS = (
  'Accept: text/html|Range: bytes=0-1|Cookie: a=b; c|Max-Forwards: 0|Origin: null|Origin: https://example.org|' +
  'Via: 1.1 x|Forwarded: for=1|X-Forwarded-Host: x|X-HTTP-Method-Override: DELETE|X-Original-URL: /livez|' +
  '__proto__: x|constructor: x|toString: x|TE: trailers|Trailer: X|If-Match: *|If-Match: "x"|If-Match: x|' +
  'If-Modified-Since: x|If-Unmodified-Since: x|If-Range: x|Accept-Encoding: gzip;q=2, br|X:|A: \t b\t '
).split('|');
const TAGS = ['"x"', '*', 'W/"x"', 'x', '"', ',,,', '"a", "b", W/"c"', '\xff', '', `"${'x'.repeat(3000)}"`];
const HOSTS = ['', 'a b', '\u00fc', '[::1', 'x:y', '<script>', '127.0.0.1:1:2', 'x'.repeat(5000)];
const NO_IDS = ['', 'a b', '\u00fc', '"', '<b>', '../x', 'a,b', '%0d%0aX: y', '\x80', 'x'.repeat(16)];
const CONNECTIONS = [
  'close',
  'keep-alive',
  'close, keep-alive',
  'x',
  'Host',
  ',',
  'Authorization',
  '"close"',
];

const CHANGES: Readonly<Record<string, Change>> = {
  'a field that changes nothing': (request, random) => add(request, random, random.pick(HARMLESS)),
  'fields in another order': (request, random) => {
    request.fields = random.shuffled(request.fields);
    return undefined;
  },
  'names in another case, and spaces around values': (request, random) => {
    const space = () => random.text(' \t', random.below(6));
    request.fields = request.fields.map(
      (line) =>
        `${line.replace(/^([^:]+): /, (_, name: string) => `${name.toUpperCase()}:${space()}`)}${space()}`,
    );
    return undefined;
  },
  'any byte in a value': (request, random) => {
    const byte = random.below(256);
    add(request, random, `X-Byte: a${String.fromCharCode(byte)}b`);
    if (byte === 10 || byte === 13 || byte === 127) return 'any';
    return byte < 32 && byte !== 9 ? [400] : undefined;
  },
  'any byte in a name': (request, random) => {
    const character = String.fromCharCode(random.below(256));
    add(request, random, `X${character}Y: z`);
    return character === ':' || TOKEN.includes(character) ? undefined : character === '\n' ? 'any' : [400];
  },
  'no field': (request, random) => {
    add(
      request,
      random,
      random.pick(['nonsense', 'Host', 'X Y', ': x', 'X-Space : x', 'GET /livez HTTP/1.1']),
    );
    return [400];
  },
  'a folded value': (request, random) => {
    add(request, random, `X-Fold: a${random.pick(['\r\n b', '\r\n\tb', '\r\n \r\n b', '\n b'])}`);
    return 'any';
  },
  'no Host': (request) => {
    request.fields = request.fields.filter((line) => !/^host\s*:/i.test(line));
    return [400];
  },
  'two Hosts': (request, random) => {
    const other = random.pick(['Host: 127.0.0.1', 'host: y', 'HOST:']);
    request.fields.push(...random.shuffled(['Host: 127.0.0.1', other]));
    return [400];
  },
  'an odd Host': (request, random) => {
    const host = `Host: ${random.pick(HOSTS)}`;
    request.fields = request.fields.map((line) => (/^host\s*:/i.test(line) ? host : line));
    return 'any';
  },
  'a large value': (request, random) => {
    const size = random.pick([4000, 8000, 17_000, 40_000, 200_000]);
    add(request, random, `X-Large: ${'x'.repeat(size)}`);
    return size > 16_384 ? [431] : undefined;
  },
  'many fields': (request, random) => {
    const count = random.pick([50, 500, 3000]);
    request.fields.push(...Array.from({ length: count }, (_, index) => `X-Some${index}: y`));
    return count > 500 ? [431] : undefined;
  },
  'a request id': (request, random) => {
    if (request.fields.some((line) => /^x-request-id:/i.test(line))) return undefined;
    request.requestId = random.text('abcXYZ019_-', random.between(1, 15));
    return add(request, random, `X-Request-Id: ${request.requestId}`);
  },
  'a request id that is not one': (request, random) => {
    if (request.requestId !== undefined) return undefined;
    return add(request, random, `X-Request-Id: ${random.pick(NO_IDS)}`);
  },
  'an entity tag': (request, random) => {
    add(request, random, `If-None-Match: ${random.pick(TAGS)}`);
    return 'any';
  },
  'an odd Connection': (request, random) => add(request, random, `Connection: ${random.pick(CONNECTIONS)}`),
};

/** Never before the first field: a line that starts with a space would continue the request line. */
function add(request: Request, random: Random, line: string): undefined {
  request.fields.splice(random.between(0, request.fields.length), 0, line);
}
