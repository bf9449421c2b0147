/** The carrier for servers and frameworks that call a function with a `Request`: passes the requests to the API. */

import type { Api } from '../api/api.ts';
import { Connections } from './connections.ts';
import { type FetchInfo, FetchRequest } from './fetch-request.ts';
import { ResponseHeaders } from './response-headers.ts';

/** Responds to a request. Never rejects. */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response>;

/** Creates the API as a function from a request to its response. */
export function createHandler(api: Api): FetchHandler {
  const context = { connections: new Connections(), responseHeaders: new ResponseHeaders() };
  return (request, info = NO_INFO) =>
    new Promise((respond) => void api.handle(new FetchRequest(request, info, context, respond)));
}

const NO_INFO: FetchInfo = {};
