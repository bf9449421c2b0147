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
  'Accept: text/html|Accept: */*;q=0|Accept-Language: xx|Range: bytes=0-1|Cookie: a=b; c|Max-Forwards: 0|' +
  'Origin: null|Origin: https://example.org|Via: 1.1 x|Forwarded: for=1|X-Forwarded-Host: x|DNT: 1|' +
  'X-HTTP-Method-Override: DELETE|X-Original-URL: /livez|X-Rewrite-URL: /livez|Date: yesterday|From: x|' +
  '__proto__: x|constructor: x|toString: x|hasOwnProperty: x|TE: trailers|Trailer: X|Pragma: x|' +
  'If-Match: *|If-Modified-Since: x|If-Unmodified-Since: x|If-Range: x|Content-Language: xx|X:|' +
  'Accept-Encoding: gzip;q=2, br|Priority: u=1|Sec-Fetch-Mode: cors|Upgrade-Insecure-Requests: 1|' +
  'A: \t b\t '
).split('|');

const CHANGES: Readonly<Record<string, Change>> = {
  'a field that changes nothing': (request, random) => add(request, random, random.pick(HARMLESS)),
  'fields in another order': (request, random) => {
    request.fields = random.shuffled(request.fields);
    return undefined;
  },
  'names in another case': (request, random) => {
    const change = random.pick([(text: string) => text.toUpperCase(), (text: string) => text.toLowerCase()]);
    request.fields = request.fields.map((line) => line.replace(/^[^:]+/, change));
    return undefined;
  },
  'spaces around values': (request, random) => {
    const space = () => random.text(' \t', random.below(6));
    request.fields = request.fields.map((line) => `${line.replace(/: /, () => `:${space()}`)}${space()}`);
    return undefined;
  },
  'any token as a name': (request, random) =>
    add(request, random, `x-${random.text(TOKEN, random.between(1, 30))}: x`),
  'any byte in a value': (request, random) => {
    const byte = random.below(256);
    add(request, random, `X-Byte: a${String.fromCharCode(byte)}b`);
    if (byte === 10 || byte === 13) return 'any';
    if (byte < 32 && byte !== 9) return [400];
    return byte === 127 ? 'any' : undefined;
  },
  'any byte in a name': (request, random) => {
    const character = String.fromCharCode(random.below(256));
    add(request, random, `X${character}Y: z`);
    return character === ':' || TOKEN.includes(character) ? undefined : character === '\n' ? 'any' : [400];
  },
  'a line without a colon': (request, random) => {
    add(request, random, random.pick(['nonsense', 'Host', 'X Y', '\u00fc', 'GET /livez HTTP/1.1']));
    return [400];
  },
  'an empty name': (request, random) => {
    add(request, random, ': x');
    return [400];
  },
  'a space before the colon': (request, random) => {
    add(request, random, 'X-Space : x');
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
    request.fields.push(
      ...random.shuffled(['Host: 127.0.0.1', random.pick(['Host: 127.0.0.1', 'host: y', 'HOST:'])]),
    );
    return [400];
  },
  'an odd Host': (request, random) => {
    const host = random.pick([
      ..."|a b|\u00fc|[::1|x:y|x/..|<script>|'|127.0.0.1:1:2".split('|'),
      'x'.repeat(5000),
    ]);
    request.fields = request.fields.map((line) => (/^host\s*:/i.test(line) ? `Host: ${host}` : line));
    return 'any';
  },
  'a large value': (request, random) => {
    add(request, random, `X-Large: ${'x'.repeat(random.pick([4000, 8000]))}`);
    return undefined;
  },
  'a value that is too large': (request, random) => {
    add(request, random, `X-Large: ${'x'.repeat(random.pick([17_000, 40_000, 200_000]))}`);
    return [431];
  },
  'many fields': (request, random) => {
    request.fields.push(...Array.from({ length: random.pick([50, 200, 500]) }, (_, index) => `X${index}: y`));
    return undefined;
  },
  'too many fields': (request, random) => {
    request.fields.push(...Array.from({ length: random.pick([3000, 6000]) }, () => 'X-Some-Field: x'));
    return [431];
  },
  'a request id': (request, random) => {
    if (request.fields.some((line) => /^x-request-id:/i.test(line))) return undefined;
    request.requestId = random.text('abcXYZ019_-', random.between(1, 15));
    return add(request, random, `X-Request-Id: ${request.requestId}`);
  },
  'a request id that is not one': (request, random) => {
    const id = random.pick([...'|a b|\u00fc|"|<b>|../x|a,b|%0d%0aX: y|{}|\x80'.split('|'), 'x'.repeat(16)]);
    if (request.requestId === undefined) add(request, random, `X-Request-Id: ${id}`);
    return undefined;
  },
  'an entity tag': (request, random) => {
    const tag = random.pick([
      ...'"x"|*|W/"x"|x|"|,,,|"a", "b", W/"c"|\xff|'.split('|'),
      `"${'x'.repeat(3000)}"`,
    ]);
    add(request, random, `${random.pick(['If-None-Match', 'If-Match'])}: ${tag}`);
    return 'any';
  },
  'an odd Connection': (request, random) => {
    add(
      request,
      random,
      `Connection: ${random.pick(['close', 'keep-alive', 'close, keep-alive', 'x', 'Host', ',', 'Authorization', 'CLOSE', '"close"'])}`,
    );
    return undefined;
  },
};

/** Never before the first field: a line that starts with a space would continue the request line. */
function add(request: Request, random: Random, line: string): undefined {
  request.fields.splice(random.between(0, request.fields.length), 0, line);
}
