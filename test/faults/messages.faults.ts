/**
 * A request hidden in another request, in every known way. A server that runs it disagrees with a proxy in front of it about where
 * the other request ends. The hidden request is a valid create. `test/adapters/http` has the responses to single odd messages.
 */

import { describe, expect, test } from 'vitest';
import { noteKeys } from '../support/canary.ts';
import { Connection } from '../support/connection.ts';
import { pipelineOf } from '../support/pipeline.ts';
import { OPERATOR_KEY } from '../support/process.ts';
import { fieldOf, isClosing, type Response } from '../support/response-reader.ts';
import { BROKEN_PROMISE } from '../support/retry.ts';
import { exportOf } from './commands.ts';
import { hasNginx, startNginx } from './nginx.ts';
import { startFaultsServer } from './server.ts';

const CONCURRENCY = 32;
const TIMEOUT = { timeout: 300_000 };

/** How long a client waits before it closes its side, and then for the server to do so, in milliseconds. */
const SILENCE = 150;
const CLOSE_TIMEOUT = 60_000;

/** The maximum size of a body, in bytes. */
const BODY_LIMIT = 16 * 1024;

const KEY = `Authorization: Bearer ${OPERATOR_KEY}`;
const CHUNKED = 'Transfer-Encoding: chunked';
const HIDDEN = pipelineOf(OPERATOR_KEY).create(1).replace('Host: x', 'Host: x\r\nX-Request-Id: evil');
const SIZE = HIDDEN.length.toString(16);
/** Both sides agree about the end of a message if the next request gets its response. */
const NEXT = 'GET /livez HTTP/1.1\r\nHost: x\r\nX-Request-Id: next\r\nConnection: close\r\n\r\n';

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
const LENGTHS = 'N\r\nContent-Length: 0|0\r\nContent-Length: N|0, N|N, 0|+0|-0|0x0|0 0|\x0b0||0\0'
  .split('|')
  .map((length) => `Content-Length: ${length.replace('N', String(HIDDEN.length))}`);

/** Requests that are refused or use no body, and whether they have a key. The server must skip their body, not run it. */
const REFUSED = [
  ...'POST /v1/pets no|GET /v1/pets no|GET /v1/pets yes|HEAD /v1/pets yes|OPTIONS /v1/pets yes'.split('|'),
  ...'PUT /v1/pets/1 yes|POST /v1/pets yes|POST /v1/nothing yes|TRACE /livez no|GET http:// no'.split('|'),
];

const SIZES = '10000000000000000|fffffffffffffffff|100000000|-1|0x0|0 0|0;\r| 0'.split('|');
const LINE_ENDS = ['\n\n', '\r\r', '\n\r', '\r\n\n', '\n\r\n', '\r\r\n', '\r\n \r\n'];

/** The messages of each trick. */
const TRICKS: Readonly<Record<string, readonly string[]>> = {
  'length over chunks (CL.TE)': CODINGS.map((coding) =>
    post(`0\r\n\r\n${HIDDEN}`, `Content-Length: ${HIDDEN.length + 5}`, coding),
  ),
  'chunks over length (TE.CL)': UNFOLDED.map((coding) =>
    post(`${SIZE}\r\n${HIDDEN}\r\n0\r\n\r\n`, coding, `Content-Length: ${SIZE.length + 2}`),
  ),
  'chunks that are none (TE)': NOT_CHUNKED.map((coding) => post(`0\r\n\r\n${HIDDEN}`, coding)),
  'lengths that disagree (CL.CL)': LENGTHS.map((lengths) => post(HIDDEN, lengths)),
  'chunks in HTTP/1.0': [
    post(`0\r\n\r\n${HIDDEN}`, CHUNKED, 'Connection: keep-alive').replace('HTTP/1.1', 'HTTP/1.0'),
  ],
  'the body of a refused request': REFUSED.flatMap((refused) => [
    refusedWith(refused, `Content-Length: ${HIDDEN.length}`, HIDDEN),
    refusedWith(refused, CHUNKED, `${SIZE}\r\n${HIDDEN}\r\n0\r\n\r\n`),
    ...['100-continue', '200-ok', ''].map((expected) =>
      refusedWith(refused, `Content-Length: ${HIDDEN.length}\r\nExpect: ${expected}`, HIDDEN),
    ),
  ]),
  'behind the limit of a body': [BODY_LIMIT - 1, BODY_LIMIT, BODY_LIMIT + 1, 100_000].map((length) =>
    post(' '.repeat(length) + HIDDEN, `Content-Length: ${length + HIDDEN.length}`),
  ),
  'behind CONNECT': ['127.0.0.1:80', '/v1/pets', '*'].flatMap((target) =>
    ['X: y', `Content-Length: ${HIDDEN.length}`].map((field) =>
      message(`CONNECT ${target}`, [field], HIDDEN),
    ),
  ),
  'behind an upgrade': ['websocket', 'h2c', 'x'].map((protocol) =>
    message(
      'GET /livez',
      [`Content-Length: ${HIDDEN.length}`, 'Connection: Upgrade', `Upgrade: ${protocol}`],
      HIDDEN,
    ),
  ),
  'behind a bare CR or LF': LINE_ENDS.map((end) => message('GET /livez', [`X: y${end}${HIDDEN.trimEnd()}`])),
  'in a chunk extension that ends in a bare LF': [
    post(`3;\n${'x'.repeat(3)}\r\n${SIZE}\r\n0\r\n\r\n${HIDDEN}\r\n0\r\n\r\n`, CHUNKED),
  ],
  'in trailers': ['\r\n ', '\n', '\r'].map((end) =>
    post(`2\r\n{}\r\n0\r\nX: ${HIDDEN.replaceAll('\r\n', end)}\r\n\r\n`, CHUNKED),
  ),
  'behind a chunk without its end': ['XX', '', '\n', '\r'].map((end) =>
    post(`2\r\n{}${end}0\r\n\r\n${HIDDEN}`, CHUNKED),
  ),
  'behind an oversized chunk': SIZES.map((size) => post(`${size}\r\n\r\n${HIDDEN}`, CHUNKED)),
};

describe.each([
  { name: 'the server', isProxied: false },
  { name: `nginx in front of it${hasNginx ? '' : ' (skipped: nginx is not installed)'}`, isProxied: true },
])('$name', ({ isProxied }) => {
  test.skipIf(isProxied && !hasNginx)('runs no hidden request, whole or in pieces', TIMEOUT, async () => {
    const server = await startFaultsServer({ env: { LOG_LEVEL: 'debug' } });
    const proxy = { servers: [server.port], isLimited: false };
    const { origin } = isProxied ? await startNginx(proxy) : server;
    const work = Object.entries(TRICKS).flatMap(([trick, texts]) =>
      texts
        .filter((text) => !isProxied || !TWO_FOR_NGINX.test(text))
        .flatMap((text) => [Infinity, 7].map((size) => ({ trick, text, size }))),
    );
    const faults: string[] = [];
    const tryAll = async () => {
      for (let next = work.pop(); next !== undefined; next = work.pop()) {
        const result = await exchange(origin, next.text, next.size);
        for (const fault of [...faultsOf(result), ...(isProxied ? [] : faultsOfServer(result))])
          faults.push(`${next.trick}: ${fault}: ${JSON.stringify(next.text.slice(0, 300))}`);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, tryAll));
    expect(faults).toEqual([]);
    expect(await exportOf(server.folder), BROKEN_PROMISE).toEqual([]);
    // By itself, the hidden request runs.
    const { responses } = await exchange(origin, HIDDEN, Infinity, CLOSE_TIMEOUT);
    expect(responses.map(({ status }) => status)).toEqual([201, 200]);
    expect(await exportOf(server.folder)).toHaveLength(1);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
  });
});

/** nginx takes a line feed for the end of a line, and so these messages for two requests. */
const TWO_FOR_NGINX = /X: y(\n\r?\n|\r\n\n)|\{\}\n0|\n0 0\r/;

function faultsOf({ responses, end }: Exchange): string[] {
  const isRun = responses.some((response) => fieldOf(response, 'x-request-id') === 'evil');
  const text = responses.map(({ head, body }) => head + body).join();
  return [
    ...(isRun || responses.some(({ status }) => status === 201) ? ['the hidden request ran'] : []),
    ...(end === undefined ? ['the connection was left open'] : []),
    ...(noteKeys(text, 'a response') ? ['a key in a response'] : []),
  ];
}

function faultsOfServer({ responses, fault }: Exchange): string[] {
  const last = responses.at(-1);
  return [
    ...(fault === undefined ? [] : [`no HTTP: ${fault}`]),
    ...responses.filter(({ status }) => status >= 500).map(({ head }) => head),
    ...(last === undefined || isClosing(last) ? [] : [`the last response (${last.status}) does not close`]),
  ];
}

interface Exchange {
  readonly responses: readonly Response[];
  /** Why the received bytes are not HTTP. */
  readonly fault: string | undefined;
  readonly end: Connection['end'];
}

/** Sends a message and another request on a connection of its own, and closes it when nothing arrives any more. */
async function exchange(origin: string, text: string, size: number, silence = SILENCE): Promise<Exchange> {
  const connection = await Connection.open(origin);
  const { reader, socket } = connection;
  const bytes = Buffer.from(text + NEXT, 'latin1');
  await connection.writeInPieces(bytes, Math.min(size, bytes.length));
  await connection.until(() => connection.end !== undefined || reader.responses.some(isClosing), silence);
  socket.end();
  await connection.until(() => connection.end !== undefined, CLOSE_TIMEOUT);
  connection.destroy();
  return { responses: reader.responses, fault: reader.fault, end: connection.end };
}

function message(line: string, fields: readonly string[], body = ''): string {
  return [`${line} HTTP/1.1`, 'Host: 127.0.0.1', ...fields, '', body].join('\r\n');
}

function post(body: string, ...framing: readonly string[]): string {
  return message('POST /v1/pets', [KEY, 'Content-Type: application/json', ...framing], body);
}

function refusedWith(refused: string, framing: string, body: string): string {
  const [method, target, hasKey] = refused.split(' ');
  return message(`${method} ${target}`, [...(hasKey === 'yes' ? [KEY] : []), framing], body);
}
