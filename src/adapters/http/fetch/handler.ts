import type { Api } from '../api/api.ts';
import { Connections } from './connections.ts';
import { type FetchInfo, FetchRequest } from './fetch-request.ts';
import { ResponseHeaders } from './response-headers.ts';

/** Responds to a request, also if it fails. */
export type FetchHandler = (request: Request, info?: FetchInfo) => Promise<Response>;

/** @param isStopping whether the server of a runtime is stopping; another server closes its connections itself */
export function createHandler(api: Api, isStopping: () => boolean = () => false): FetchHandler {
  const context = { isStopping, connections: new Connections(), responseHeaders: new ResponseHeaders() };
  return async (request, info = NO_INFO) => {
    const carried = new FetchRequest(request, info, context);
    await api.handle(carried);
    return carried.response;
  };
}

const NO_INFO: FetchInfo = {};
