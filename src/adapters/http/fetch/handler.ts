/** The carrier for servers and frameworks that call a function with a `Request`: passes the requests to the API. */

import type { Api } from '../api/api.ts';
import { Connections } from './connections.ts';
import { type FetchInfo, FetchRequest, type HandlerState } from './fetch-request.ts';
import { ResponseHeaders } from './response-headers.ts';

/** Responds to a request, also if it fails. */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response>;

/** Creates the API as a function from a request to its response. */
export function createHandler(
  api: Api,
  state: HandlerState = { requestsInFlight: 0, isStopping: false },
): FetchHandler {
  const context = { state, connections: new Connections(), responseHeaders: new ResponseHeaders() };
  return async (request, info = NO_INFO) => {
    const carried = new FetchRequest(request, info, context);
    await api.handle(carried);
    return carried.response;
  };
}

const NO_INFO: FetchInfo = {};
