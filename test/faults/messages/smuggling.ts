/**
 * A request hidden in another request. A server that finds a second request here disagrees with a proxy in front of it.
 * The hidden request is a valid create with a valid key. It must never run.
 */

import type { Random } from '../random.ts';
import {
  anyKey,
  BODY_LIMIT,
  type Context,
  create,
  type Draft,
  draftOf,
  get,
  type Request,
  SMUGGLED,
  writeRequest,
} from './request.ts';
import { CODINGS, isChunked, isFolded, LENGTHS, REFUSALS, type Trick } from './smuggling-parts.ts';

export function smuggling(random: Random, context: Context): Draft {
  const hidden = hiddenRequest(random, context);
  const [name, build] = random.pick(Object.entries(TRICKS));
  const { request, text, isComplete = false } = build({ hidden, random, context });
  request.expected = undefined;
  return { ...draftOf(`smuggling: ${name}`, request, text), isComplete };
}

function hiddenRequest(random: Random, context: Context): string {
  const hidden = create(context, random, `${SMUGGLED} ${context.number}`);
  hidden.fields.push(`X-Request-Id: ${SMUGGLED}-${context.number}`);
  return writeRequest(hidden);
}

interface Built {
  readonly request: Request;
  readonly text?: string;
  readonly isComplete?: boolean;
}

type Build = (trick: Trick) => Built;

const TRICKS: Readonly<Record<string, Build>> = {
  'length over chunks (CL.TE)': ({ hidden, random, context }) => {
    const request = posting(random, context);
    request.body = `0\r\n\r\n${hidden}`;
    request.fields.push(...random.shuffled([`Content-Length: ${request.body.length}`, random.pick(CODINGS)]));
    return { request };
  },
  'chunks over length (TE.CL)': ({ hidden, random, context }) => {
    const request = posting(random, context);
    const size = `${hidden.length.toString(16)}\r\n`;
    request.body = `${size}${hidden}\r\n0\r\n\r\n`;
    const codings = CODINGS.filter((coding) => !isFolded(coding));
    request.fields.push(...random.shuffled([`Content-Length: ${size.length}`, random.pick(codings)]));
    return { request };
  },
  'chunks that are none (TE)': ({ hidden, random, context }) => {
    const request = posting(random, context);
    request.body = `0\r\n\r\n${hidden}`;
    request.fields.push(random.pick(CODINGS.filter((coding) => !isFolded(coding) && !isChunked(coding))));
    return { request };
  },
  'lengths that disagree (CL.CL)': ({ hidden, random, context }) => {
    const request = posting(random, context);
    request.body = hidden;
    request.fields.push(random.pick(LENGTHS)(hidden.length));
    return { request };
  },
  'chunks in HTTP/1.0': ({ hidden, random, context }) => {
    const request = posting(random, context);
    request.fields.push('Transfer-Encoding: chunked', 'Connection: keep-alive');
    request.body = `0\r\n\r\n${hidden}`;
    return { request, text: writeRequest(request, 'HTTP/1.0'), isComplete: true };
  },
  'the body of a refused request': (trick) => {
    const request = trick.random.pick(REFUSALS)(trick);
    request.body = trick.hidden;
    request.fields.push(`Content-Length: ${trick.hidden.length}`);
    return { request, isComplete: true };
  },
  'the chunks of a refused request': (trick) => {
    const request = trick.random.pick(REFUSALS)(trick);
    request.body = `${trick.hidden.length.toString(16)}\r\n${trick.hidden}\r\n0\r\n\r\n`;
    request.fields.push('Transfer-Encoding: chunked');
    return { request, isComplete: true };
  },
  'behind the limit of a body': ({ hidden, random, context }) => {
    const request = posting(random, context);
    request.body = ' '.repeat(random.pick([BODY_LIMIT - 1, BODY_LIMIT, BODY_LIMIT + 1, 100_000])) + hidden;
    request.fields.push(`Content-Length: ${request.body.length}`);
    return { request, isComplete: true };
  },
  'behind a refused expectation': (trick) => {
    const request = trick.random.pick(REFUSALS)(trick);
    request.fields.push(`Expect: ${trick.random.pick(['100-continue', '200-ok', '100-continue, x', ''])}`);
    request.fields.push(`Content-Length: ${trick.hidden.length}`);
    request.body = trick.hidden;
    return { request, isComplete: true };
  },
  'behind CONNECT': ({ hidden, random }) => {
    const request = get(random.pick(['127.0.0.1:80', '/v1/pets', '*']), undefined, [405]);
    request.method = 'CONNECT';
    request.body = hidden;
    if (random.chance(0.5)) request.fields.push(`Content-Length: ${hidden.length}`);
    return { request };
  },
  'behind an upgrade': ({ hidden, random }) => {
    const request = get('/livez', undefined, [200]);
    request.fields.push(
      'Connection: Upgrade',
      `Upgrade: ${random.pick(['websocket', 'h2c', 'TLS/1.0', 'x'])}`,
    );
    request.fields.push(`Content-Length: ${hidden.length}`);
    request.body = hidden;
    return { request };
  },
  'behind a bare CR or LF': ({ hidden, random }) => {
    const request = get('/livez', undefined, [200]);
    request.fields.push(
      `X: y${random.pick(['\n\n', '\r\r', '\n\r', '\r\n\n', '\n\r\n', '\r\r\n', '\r\n \r\n'])}${hidden.trimEnd()}`,
    );
    return { request };
  },
  'in a field': ({ hidden, random }) => {
    const request = get('/livez', undefined, [200]);
    request.fields.push(
      `X: ${hidden.replaceAll('\r\n', random.pick(['\r\n ', '\r\n\t', '\r', '%0d%0a', '\\r\\n', '\x85']))}`,
    );
    return { request };
  },
  'in a chunk extension': ({ hidden, random, context }) => {
    const request = posting(random, context);
    const end = random.pick(['\r', '\n', '%0d%0a', '\x85', ' ']);
    request.fields.push('Transfer-Encoding: chunked');
    request.body = `2;x=${end}${hidden.replaceAll('\r\n', end)}\r\n{}\r\n0\r\n\r\n`;
    return { request };
  },
  'in a chunk extension that ends in a bare LF': ({ hidden, random, context }) => {
    const request = posting(random, context);
    request.fields.push('Transfer-Encoding: chunked');
    const size = (hidden.length + 5).toString(16);
    request.body = `${size.length};\n${'x'.repeat(size.length)}\r\n${size}\r\n0\r\n\r\n${hidden}\r\n0\r\n\r\n`;
    return { request };
  },
  'in trailers': ({ hidden, random, context }) => {
    const request = posting(random, context);
    request.fields.push('Transfer-Encoding: chunked');
    request.body = `2\r\n{}\r\n0\r\nX: ${hidden.replaceAll('\r\n', random.pick(['\r\n ', '\n', '\r']))}\r\n\r\n`;
    return { request };
  },
  'behind a chunk without its end': ({ hidden, random, context }) => {
    const request = posting(random, context);
    request.fields.push('Transfer-Encoding: chunked');
    request.body = `2\r\n{}${random.pick(['XX', '', '\n', '\r'])}0\r\n\r\n${hidden}`;
    return { request };
  },
  'behind an oversized chunk': ({ hidden, random, context }) => {
    const request = posting(random, context);
    request.fields.push('Transfer-Encoding: chunked');
    const size = random.pick('10000000000000000|fffffffffffffffff|100000000|-1|0x0|0 0|0;\r| 0'.split('|'));
    request.body = `${size}\r\n\r\n${hidden}`;
    return { request };
  },
};

function posting(random: Random, context: Context): Request {
  const request = get('/v1/pets', anyKey(context, random), undefined);
  request.method = 'POST';
  request.fields.push('Content-Type: application/json');
  return request;
}
