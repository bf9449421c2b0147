/** Starts a gateway in front of a server that replaces responses by others. */

import { startListener } from './listener.js';

const HTML = { 'Content-Type': 'text/html; charset=utf-8' };
const PAGE = '<!doctype html><title>Gateway</title>';

/** Responses to requests of a method that do not come from the API. */
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
 * @returns {Promise<{ origin: string, stop: () => Promise<void> }>}
 */
export function startGateway(origin, { method, change }) {
  return startListener(async (incoming, outgoing) => {
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
}

/** What stands in the place of each page for a follower, one after the other. `undefined` lets a response through. */
const FOLLOWED = [
  { status: 200, headers: HTML, body: '<script>[{"id":99,"name":"Rex 99"}]</script>' },
  { status: 200, headers: { 'Content-Type': 'application/json' }, body: '{"id":99,"name":"Rex 99"}' },
  { status: 502, headers: HTML, body: PAGE },
  { status: 404, headers: HTML, body: PAGE },
  'cut',
  undefined,
];

/**
 * Starts a gateway that sends each of these before a response of the server.
 *
 * @param {string} origin the origin of the server
 */
export async function startChangingGateway(origin, { withNotFound = true } = {}) {
  const fates = FOLLOWED.filter((fate) => withNotFound || fate?.status !== 404);
  const counts = { requests: 0 };
  const gateway = await startListener(async (incoming, outgoing) => {
    const fate = fates[counts.requests % fates.length];
    counts.requests += 1;
    const { authorization } = incoming.headers;
    const response = await fetch(origin + incoming.url, { headers: { authorization } });
    const body = await response.text();
    if (fate === 'cut') {
      // The length is that of the whole body.
      outgoing.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length + 10 });
      outgoing.write(body.slice(0, body.length - 1), () => outgoing.destroy());
    } else if (fate !== undefined) outgoing.writeHead(fate.status, fate.headers).end(fate.body);
    else outgoing.writeHead(200, { 'Content-Type': 'application/json' }).end(body);
  });
  return { ...gateway, counts, rounds: fates.length };
}
