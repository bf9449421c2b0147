/**
 * Starts a proxy in front of a server that makes clients repeat their requests. Of each five requests, the first reaches
 * the server, but the connection is lost before the response. The second gets a 429 and the third a 503, both with
 * `Retry-After`. The others reach the server and get its response.
 */

import { createServer, request } from 'node:http';
import { listen } from '../support/sockets.ts';

const FAULTS = ['lost', 429, 503];
const ROUND = 5;

/**
 * @param {string} origin the origin of the server
 * @returns {Promise<{ origin: string, requests: Attempt[] }>}
 * @typedef {{ method: string, target: string, key: string | undefined, body: string, at: number, status: number | 'lost' }} Attempt
 */
export async function startUnreliable(origin) {
  const requests = [];
  const proxy = createServer(async (incoming, outgoing) => {
    const { method, url: target, headers } = incoming;
    const fault = FAULTS[requests.length % ROUND];
    const at = performance.now();
    const attempt = { method, target, key: headers['idempotency-key'], body: '', at, status: fault };
    requests.push(attempt);
    for await (const chunk of incoming) attempt.body += chunk;
    if (fault === 'lost') forward(origin, incoming, attempt, () => incoming.socket.destroy());
    else if (fault !== undefined) refuse(outgoing, fault);
    else {
      forward(origin, incoming, attempt, (response) => {
        attempt.status = response.statusCode;
        outgoing.writeHead(response.statusCode, response.headers);
        response.pipe(outgoing);
      });
    }
  });
  return { origin: await listen(proxy), requests };
}

function refuse(outgoing, status) {
  const code = status === 429 ? 'rate_limited' : 'overloaded';
  outgoing.writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '1', Connection: 'close' });
  outgoing.end(JSON.stringify({ code, message: 'try again later', status }));
}

function forward(origin, { method, headers, socket }, { target, body }, onResponse) {
  // While the server restarts, the connection is lost.
  const onError = () => socket.destroy();
  request(origin + target, { method, headers }, onResponse)
    .on('error', onError)
    .end(body);
}

/**
 * Throws an error unless the requests show a client that retries as it should: the same request again after a fault, with
 * the same idempotency key, not before `Retry-After` is over, and never after another response. Each create has its own
 * key.
 */
export function checkRetries(requests) {
  const keys = new Set();
  let previous;
  for (const attempt of requests) {
    const { method, target, key, body, at } = attempt;
    const mustRepeat = previous !== undefined && FAULTS.includes(previous.status);
    if (mustRepeat) {
      const isSame = ['method', 'target', 'key', 'body'].every((name) => attempt[name] === previous[name]);
      if (!isSame)
        throw new Error(`after ${previous.status}, expected the same request again: ${method} ${target}`);
      if (previous.status !== 'lost' && at - previous.at < 950) throw new Error('Retry-After was ignored');
    } else if (method === 'POST') {
      if (!/^[!-~]{16,255}$/.test(key ?? '')) throw new Error(`a create has no idempotency key: ${body}`);
      if (keys.has(key)) throw new Error(`two creates have the same idempotency key: ${body}`);
      keys.add(key);
    }
    previous = attempt;
  }
  if (!requests.some(({ status }) => status === 400)) throw new Error('no request was refused with a 400');
  const faults = requests.filter(({ status }) => FAULTS.includes(status)).length;
  if (faults < FAULTS.length) throw new Error(`expected ${FAULTS.length} faults or more, got ${faults}`);
}
