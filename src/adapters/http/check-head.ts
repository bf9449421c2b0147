/** Checks the head of a request by the rules of HTTP (RFC 9112), and remembers the faults of bodies. */

import type { IncomingMessage } from 'node:http';
import { invalidRequest } from '../../domain/errors.ts';
import type { HttpError } from './errors.ts';
import type { ApiMiddleware } from './state.ts';

/** Matches the characters of a host and a port (RFC 3986, section 3.2). */
const HOST = /^[\w.~%!$&'()*+;=:[\]-]*$/;

/** Refuses invalid requests that Node.js would accept, or to which it would respond without a body (sections 2.3, 3.2 and 6.1). */
export const checkHead: ApiMiddleware = ({ req }, next) => {
  const { httpVersion } = req;
  if (httpVersion === '0.9') throw invalidRequest('the version is missing: expected HTTP/1.0 or HTTP/1.1');
  // Only a request over HTTP/2 has a `stream`. Without one, the request came over HTTP/1, and names HTTP/2.0 by mistake.
  if (httpVersion === '2.0' && !('stream' in req))
    throw invalidRequest('the version is wrong: expected HTTP/1.0 or HTTP/1.1');
  const isHttp11 = httpVersion === '1.1';
  if (!isFramed(req))
    throw invalidRequest(isHttp11 ? 'Transfer-Encoding must be chunked' : 'Transfer-Encoding needs HTTP/1.1');
  const host = fieldOf(req, 'host');
  // A `Request` of the Fetch standard joins the values of repeated fields with commas.
  if (host === undefined ? isHttp11 : isRepeated(req, 'host') || host.includes(','))
    throw invalidRequest('Host must be given once');
  if (!HOST.test(host ?? '')) throw invalidRequest('invalid Host: expected a host, with or without a port');
  checkBody(req);
  return next();
};

/** For each request whose body is broken or arrives too slowly, the fault of the body. */
const faults = new WeakMap<IncomingMessage, HttpError>();

/** Makes the reader of a body fail. Destroying the request instead would destroy its connection before the response. */
export function breakBody(req: IncomingMessage, fault: HttpError): void {
  faults.set(req, fault);
  const fail = () => req.listenerCount('error') > 0 && req.emit('error', fault);
  fail();
  // Middleware of the user can begin to read later, and must fail as well.
  req.on('newListener', (event) => event === 'error' && process.nextTick(fail));
}

/** Throws a body's fault that was found while nobody was reading the body. */
export function checkBody(req: IncomingMessage): void {
  const fault = faults.get(req);
  if (fault !== undefined) throw fault;
}

/** Whether the end of a request is clear (section 6). If not, a proxy and Node.js could disagree where the next request begins. */
export function isFramed({ httpVersion, headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  return coding === undefined || (httpVersion === '1.1' && String(coding).toLowerCase() === 'chunked');
}

/** Returns the value of a header field. The name must be in lower case. */
export function fieldOf({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a field occurs more than once. For some fields, `headers` does not show this. The name must be in lower case. */
export function isRepeated({ rawHeaders }: IncomingMessage, name: string): boolean {
  return rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length > 1;
}
