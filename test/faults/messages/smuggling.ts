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

interface Trick {
  readonly hidden: string;
  readonly random: Random;
  readonly context: Context;
}

export function smuggling(random: Random, context: Context): Draft {
  const [name, build] = random.pick(Object.entries(TRICKS));
  const request = build({ hidden: hiddenRequest(random, context), random, context });
  request.expected = undefined;
  const text = writeRequest(request, name.includes('HTTP/1.0') ? 'HTTP/1.0' : 'HTTP/1.1');
  return { ...draftOf(`smuggling: ${name}`, request, text), isComplete: name.endsWith('request') };
}

function hiddenRequest(random: Random, context: Context): string {
  const hidden = create(context, random, `${SMUGGLED} ${context.number}`);
  hidden.fields.push(`X-Request-Id: ${SMUGGLED}-${context.number}`);
  return writeRequest(hidden);
}

/** Transfer-Encodings that a server must read as chunked or refuse. With a Content-Length, it must refuse them. */
const CODINGS = [
  ...(
    ': chunked|: Chunked|:\tchunked|: xchunked|: chunkedx|: chunked, identity|: identity, chunked|: identity|' +
    ': chunked;q=1|: "chunked"|: \x0bchunked|: chunked\x0b|: chunked, chunked|: ,chunked|: chunked,|: |' +
    ': \xffchunked|: chunked\0|: gzip| : chunked|: chunked\r\nTransfer-Encoding: identity|' +
    ': x\r\nTransfer-Encoding: chunked|: chunked\r\nTransfer-Encoding: chunked'
  )
    .split('|')
    .map((rest) => `Transfer-Encoding${rest}`),
  'transfer-encoding:chunked',
  ...['\n', '\r', '\r\n '].map((end) => `X: y${end}Transfer-Encoding: chunked`),
];

/** A server that unfolds a folded line may use it or the Content-Length; both are correct. */
const UNFOLDED = CODINGS.filter((coding) => !coding.includes('\r\n '));

/** The framing is chunked if the list ends in chunked. A list may have empty elements (RFC 9112, section 6.3). */
const NOT_CHUNKED = UNFOLDED.filter(
  (coding) => !/(:|,) ?\t?chunked,?$/i.test(coding) || /chunked,? chunked$/.test(coding),
);

/** Lengths that a server must refuse, where N is the right one. If it ignored them, the hidden request would run. */
const LENGTHS = 'N\r\nContent-Length: 0|0\r\nContent-Length: N|0, N|N, 0|+0|-0|0x0|0 0|\x0b0||0\0'.split('|');

/** Requests that are refused or use no body, and whether they have a key. The server must skip their body, not run it. */
const REFUSALS = [
  ...'POST /v1/pets no|GET /v1/pets no|GET /v1/pets yes|HEAD /v1/pets yes|OPTIONS /v1/pets yes'.split('|'),
  ...'PUT /v1/pets/1 yes|POST /v1/pets yes|POST /v1/nothing yes|TRACE /livez no|GET http:// no'.split('|'),
];

const SIZES = '10000000000000000|fffffffffffffffff|100000000|-1|0x0|0 0|0;\r| 0'.split('|');
const LINE_ENDS = ['\n\n', '\r\r', '\n\r', '\r\n\n', '\n\r\n', '\r\r\n', '\r\n \r\n'];

const CHUNKED = 'Transfer-Encoding: chunked';

/** The server can find the end of a message whose name ends in "request", and so must respond to it. */
const TRICKS: Readonly<Record<string, (trick: Trick) => Request>> = {
  'length over chunks (CL.TE)': (trick) => {
    const body = `0\r\n\r\n${trick.hidden}`;
    return post(trick, body, `Content-Length: ${body.length}`, trick.random.pick(CODINGS));
  },
  'chunks over length (TE.CL)': (trick) => {
    const size = `${trick.hidden.length.toString(16)}\r\n`;
    const body = `${size}${trick.hidden}\r\n0\r\n\r\n`;
    return post(trick, body, `Content-Length: ${size.length}`, trick.random.pick(UNFOLDED));
  },
  'chunks that are none (TE)': (trick) =>
    post(trick, `0\r\n\r\n${trick.hidden}`, trick.random.pick(NOT_CHUNKED)),
  'lengths that disagree (CL.CL)': (trick) => {
    const length = trick.random.pick(LENGTHS).replace('N', String(trick.hidden.length));
    return post(trick, trick.hidden, `Content-Length: ${length}`);
  },
  // The connection is closed behind the head. A client that still sends then can get a reset instead of the response.
  'behind chunks in HTTP/1.0': (trick) =>
    post(trick, `0\r\n\r\n${trick.hidden}`, CHUNKED, 'Connection: keep-alive'),
  'the body of a refused request': (trick) => withBody(trick, refusal(trick)),
  'the chunks of a refused request': (trick) => {
    const body = `${trick.hidden.length.toString(16)}\r\n${trick.hidden}\r\n0\r\n\r\n`;
    const request = { ...refusal(trick), body };
    request.fields.push(CHUNKED);
    return request;
  },
  'the expected body of a refused request': (trick) => {
    const request = withBody(trick, refusal(trick));
    request.fields.push(`Expect: ${trick.random.pick(['100-continue', '200-ok', ''])}`);
    return request;
  },
  'behind the limit of a body of a request': (trick) => {
    const length = trick.random.pick([BODY_LIMIT - 1, BODY_LIMIT, BODY_LIMIT + 1, 100_000]);
    const body = ' '.repeat(length) + trick.hidden;
    return post(trick, body, `Content-Length: ${body.length}`);
  },
  'behind CONNECT': (trick) => {
    const target = trick.random.pick(['127.0.0.1:80', '/v1/pets', '*']);
    const request = { ...get(target, undefined, undefined), method: 'CONNECT', body: trick.hidden };
    return trick.random.chance(0.5) ? withBody(trick, request) : request;
  },
  'behind an upgrade': (trick) => {
    const request = withBody(trick, get('/livez', undefined, undefined));
    request.fields.push('Connection: Upgrade', `Upgrade: ${trick.random.pick(['websocket', 'h2c', 'x'])}`);
    return request;
  },
  'behind a bare CR or LF': ({ hidden, random }) => inField(`${random.pick(LINE_ENDS)}${hidden.trimEnd()}`),
  'in a chunk extension that ends in a bare LF': (trick) => {
    const size = (trick.hidden.length + 5).toString(16);
    const extension = `${size.length};\n${'x'.repeat(size.length)}\r\n${size}`;
    return post(trick, `${extension}\r\n0\r\n\r\n${trick.hidden}\r\n0\r\n\r\n`, CHUNKED);
  },
  'in trailers': (trick) => {
    const hidden = trick.hidden.replaceAll('\r\n', trick.random.pick(['\r\n ', '\n', '\r']));
    return post(trick, `2\r\n{}\r\n0\r\nX: ${hidden}\r\n\r\n`, CHUNKED);
  },
  'behind a chunk without its end': (trick) =>
    post(trick, `2\r\n{}${trick.random.pick(['XX', '', '\n', '\r'])}0\r\n\r\n${trick.hidden}`, CHUNKED),
  'behind an oversized chunk': (trick) =>
    post(trick, `${trick.random.pick(SIZES)}\r\n\r\n${trick.hidden}`, CHUNKED),
};

function post({ random, context }: Trick, body: string, ...framing: readonly string[]): Request {
  const request = { ...get('/v1/pets', anyKey(context, random), undefined), method: 'POST', body };
  request.fields.push('Content-Type: application/json', ...random.shuffled(framing));
  return request;
}

function refusal({ random, context }: Trick): Request {
  const [method = '', target = '', hasKey] = random.pick(REFUSALS).split(' ');
  return { ...get(target, hasKey === 'yes' ? anyKey(context, random) : undefined, undefined), method };
}

function withBody({ hidden }: Trick, request: Request): Request {
  request.body = hidden;
  request.fields.push(`Content-Length: ${hidden.length}`);
  return request;
}

function inField(value: string): Request {
  const request = get('/livez', undefined, undefined);
  request.fields.push(`X: y${value}`);
  return request;
}
