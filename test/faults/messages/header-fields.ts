/** Header fields that are unusual, invalid, duplicate, large or numerous. */

import type { Random } from '../random.ts';
import { anyRequest, type Context, type Draft, draftOf, type Request } from './request.ts';

/** The correct statuses; `any` when the standards leave the status open, `undefined` when a change must have no effect. */
type Expected = readonly number[] | 'any' | undefined;

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
  'Accept: text/html|Range: bytes=0-1|Cookie: a=b; c|Max-Forwards: 0|Origin: https://example.org|Via: 1.1 x|' +
  'Forwarded: for=1|X-Forwarded-Host: x|X-HTTP-Method-Override: DELETE|X-Original-URL: /livez|__proto__: x|' +
  'constructor: x|TE: trailers|If-Match: *|If-Match: "x"|If-Modified-Since: x|If-Range: x|' +
  'Accept-Encoding: gzip;q=2, br|X:|A: \t b\t |Connection: close|Connection: close, keep-alive|Connection: x|' +
  'Connection: ,|Connection: Authorization|Upgrade: h2c|Upgrade: websocket\r\nConnection: Upgrade|' +
  'Upgrade: \xff\r\nConnection: upgrade, HTTP2-Settings'
).split('|');
const NO_FIELDS = ['nonsense', 'Host', 'X Y', ': x', 'X-Space : x', 'GET /livez HTTP/1.1'];
const OPEN = [
  ...['"x"', '*', 'W/"x"', '"', ',,,', '"a", W/"c"', '\xff', '', 'x'.repeat(3000)].map(
    (tag) => `If-None-Match: ${tag}`,
  ),
  ...['200-ok', '', '100', '\xff', 'x'.repeat(1000)].map((value) => `Expect: ${value}`),
  ...['\r\n b', '\r\n\tb', '\r\n \r\n b', '\n b'].map((fold) => `X-Fold: a${fold}`),
];
const HOSTS = ['', 'a b', '\u00fc', '[::1', 'x:y', '<script>', '127.0.0.1:1:2', 'x'.repeat(5000)];
const NO_IDS = ['', 'a b', '\u00fc', '"', '<b>', '../x', 'a,b', '%0d%0aX: y', '\x80', 'x'.repeat(16)];

const CHANGES: Readonly<Record<string, (request: Request, random: Random) => Expected>> = {
  'a field that changes nothing': (request, random) => add(request, random, random.pick(HARMLESS)),
  'a field whose effect is open': (request, random) => add(request, random, random.pick(OPEN), 'any'),
  'no field': (request, random) => add(request, random, random.pick(NO_FIELDS), [400]),
  'another order, names in another case, spaces around values': (request, random) => {
    const space = () => random.text(' \t', random.below(6));
    const odd = (line: string) => line.replace(/^([^:]+): /, (_, name) => `${name.toUpperCase()}:${space()}`);
    request.fields = random.shuffled(request.fields).map((line) => odd(line) + space());
    return undefined;
  },
  'any byte in a value': (request, random) => {
    const byte = random.below(256);
    const isOpen = byte === 10 || byte === 13 || byte === 127;
    const isRefused = byte < 32 && byte !== 9;
    return add(
      request,
      random,
      `X-Byte: a${String.fromCharCode(byte)}b`,
      isOpen ? 'any' : isRefused ? [400] : undefined,
    );
  },
  'any byte in a name': (request, random) => {
    const character = String.fromCharCode(random.below(256));
    const isRefused = character !== ':' && !TOKEN.includes(character);
    return add(
      request,
      random,
      `X${character}Y: z`,
      character === '\n' ? 'any' : isRefused ? [400] : undefined,
    );
  },
  'no Host': (request) => {
    request.fields = request.fields.filter((line) => !isHost(line));
    return [400];
  },
  'two Hosts': (request, random) => {
    const other = random.pick(['Host: 127.0.0.1', 'host: y', 'HOST:']);
    request.fields.push(...random.shuffled(['Host: 127.0.0.1', other]));
    return [400];
  },
  'an odd Host': (request, random) => {
    const host = `Host: ${random.pick(HOSTS)}`;
    request.fields = request.fields.map((line) => (isHost(line) ? host : line));
    return 'any';
  },
  'a large value': (request, random) => {
    const size = random.pick([4000, 8000, 17_000, 200_000]);
    return add(request, random, `X-Large: ${'x'.repeat(size)}`, size > 16_384 ? [431] : undefined);
  },
  'many fields': (request, random) => {
    const count = random.pick([50, 500, 3000]);
    request.fields.push(...Array.from({ length: count }, (_, index) => `X-Some${index}: y`));
    return count > 500 ? [431] : undefined;
  },
  'a request id': (request, random) => {
    const isValid = random.chance(0.5);
    const id = isValid ? random.text('abcXYZ019_-', random.between(1, 15)) : random.pick(NO_IDS);
    if (isValid) request.requestId = id;
    return add(request, random, `X-Request-Id: ${id}`);
  },
};

const isHost = (line: string) => /^host\s*:/i.test(line);

/** Never before the first field: a line that starts with a space would continue the request line. */
function add(request: Request, random: Random, line: string, expected?: Expected): Expected {
  request.fields.splice(random.between(0, request.fields.length), 0, line);
  return expected;
}
