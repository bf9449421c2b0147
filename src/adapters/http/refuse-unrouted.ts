import { ACCEPT_PATCH } from './body.ts';
import { HttpError, methodNotAllowed } from './errors.ts';
import { methodsOf, type Operation } from './operations.ts';
import { needsApiKey } from './paths.ts';
import { noContent } from './respond.ts';
import type { ApiContext, ApiMiddleware } from './state.ts';

/** Handles what no route has handled: OPTIONS, methods that a path does not have (405), and unknown paths (404). */
export function refuseUnrouted(operations: readonly Operation[]): ApiMiddleware {
  const methods = methodsOf(operations);
  const paths = [...new Set(operations.map(({ path }) => path))].join(' or ');
  return (ctx) => {
    const { method, url, matched = [] } = ctx;
    const isForServer = method === 'OPTIONS' && url === '*';
    if (matched.length === 0 && !isForServer) throw unknownPath(ctx, paths);
    const ofPath = new Set(matched.flatMap((route) => route.methods)).add('OPTIONS');
    const allowed = isForServer ? methods : methods.filter((each) => ofPath.has(each));
    if (method !== 'OPTIONS') throw methodNotAllowed(method, allowed);
    ctx.set('Allow', allowed.join(', '));
    // RFC 5789, section 3.1.
    if (ofPath.has('PATCH')) ctx.set('Accept-Patch', ACCEPT_PATCH);
    noContent(ctx);
  };
}

function unknownPath({ url, state }: ApiContext, paths: string): HttpError {
  const [path = ''] = url.split('?', 1);
  const hint = needsApiKey(state.animalStore.path)
    ? `; expected ${paths}`
    : '; the API is under /v1, and its reference at /docs';
  const hasSlash = path.length > 1 && path.endsWith('/');
  return new HttpError('not_found', `no such path${hasSlash ? ': paths have no slash at the end' : hint}`);
}
