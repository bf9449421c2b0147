/** Starts a gateway in front of a server that replaces responses with others. */

import { createServer } from 'node:http';
import { listen } from '../support/sockets.ts';

const HTML = { 'Content-Type': 'text/html; charset=utf-8' };
const PAGE = '<!doctype html><title>Gateway</title>';

/** Responses that do not come from the API, each for the requests with one method. */
export const REPLACEMENTS = [
  { name: '200 instead of 201', method: 'POST', change: (response) => ({ ...response, status: 200 }) },
  { name: 'no content', method: 'POST', change: () => ({ status: 204, headers: {}, body: null }) },
  ...[
    ['POST', 200],
    ['POST', 201],
    ['POST', 403],
    ['GET', 200],
    ['GET', 404],
  ].map(([method, status]) => ({
    name: `a page with status ${status} for ${method}`,
    method,
    change: () => ({ status, headers: HTML, body: PAGE }),
  })),
];

/**
 * @param {string} origin the origin of the server
 * @returns {Promise<string>} the origin of the gateway
 */
export function startGateway(origin, { method, change }) {
  const gateway = createServer(async (incoming, outgoing) => {
    const chunks = await incoming.toArray();
    const response = await fetch(origin + incoming.url, {
      method: incoming.method,
      headers: Object.entries(incoming.headers).filter(([name]) =>
        /^(authorization|content-type|idempotency-key)$/.test(name),
      ),
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const { status, headers } = response;
    const link = headers.get('Link');
    const own = { 'Content-Type': headers.get('Content-Type'), ...(link && { Link: link }) };
    const same = { status, headers: own, body: await response.text() };
    const sent = incoming.method === method ? change(same) : same;
    outgoing.writeHead(sent.status, sent.headers).end(sent.body);
  });
  return listen(gateway);
}
