import { randomBytes } from 'node:crypto';
import type { RequestObserver } from '../../../application/ports/request-observer.ts';
import { secretPartFinder } from '../../../domain/api-key.ts';
import { clientAddress, forwardedProtocol, type TrustedProxies } from './client-address.ts';
import { type Context, fieldOf, needsApiKey, type RequestState, type Stage } from './context.ts';

export type { RequestObserver, RequestOutcome } from '../../../application/ports/request-observer.ts';

export interface RequestSettings {
  readonly proxies: TrustedProxies | undefined;
  /** Whether an observer is told the address of the client, and whether it has disconnected. */
  readonly needsAddress: boolean;
  /** Whether a text contains a part of an API key that can have any format. */
  readonly isSecret: (text: string) => boolean;
}

/** The header fields of every response. The reference page (`/docs`) has another policy. */
export const API_FIELDS: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** Begins a request, and tells the observer about its response when it is sent. */
export function observe(observer: RequestObserver, settings: RequestSettings): Stage {
  return async (ctx, next) => {
    const state = beginRequest(ctx, settings);
    await next();
    if (observer.onRequest === undefined) return;
    const { needsAddress } = settings;
    const aborted = needsAddress && ctx.res.destroyed ? true : undefined;
    const report = (): void => {
      const { route } = state;
      observer.onRequest?.({
        method: ctx.method,
        route,
        path: route === undefined ? unmatchedPath(ctx.url) : undefined,
        status: ctx.status,
        ms: Math.round((performance.now() - state.startedAt) * 1000) / 1000,
        requestId: state.requestId,
        keyId: state.holder?.id,
        keyName: state.holder?.name,
        address: needsAddress ? state.address : undefined,
        aborted,
        traceparent: state.traceparent,
      });
    };
    if (ctx.onceSent === undefined) report();
    else ctx.onceSent(report);
  };
}

/** Sets `ctx.state.animalStore`, and the header fields of every response. */
export function beginRequest(ctx: Context, settings: RequestSettings): RequestState {
  const state = new NewRequest(ctx, settings);
  ctx.state.animalStore = state;
  // In another Koa app, its router may have set them.
  ctx.matched = undefined;
  ctx.params = {};
  ctx.set(API_FIELDS);
  ctx.set('X-Request-Id', state.requestId);
  return state;
}

/** A valid `traceparent` of version 00 (W3C Trace Context). A trace id or a parent id of zeros is invalid. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

class NewRequest implements RequestState {
  readonly requestId: string;
  readonly path: string;
  readonly startedAt: number = performance.now();
  holder: RequestState['holder'];
  isTooBusy = false;
  readonly #ctx: Context;
  readonly #settings: RequestSettings;
  #address: string | undefined;

  constructor(ctx: Context, settings: RequestSettings) {
    this.#ctx = ctx;
    this.#settings = settings;
    this.path = pathOf(ctx);
    this.requestId = requestIdOf(ctx, settings.isSecret);
    // It can become unknown when the client disconnects.
    if (settings.needsAddress) this.#address = this.address;
  }

  get route(): string | undefined {
    return this.#ctx.matched?.[0]?.name;
  }

  get address(): string | undefined {
    if (this.#address !== undefined) return this.#address;
    const { socket, headers } = this.#ctx;
    return clientAddress(socket.remoteAddress, headers['x-forwarded-for'], this.#settings.proxies);
  }

  get scheme(): string {
    const { socket, headers, protocol } = this.#ctx;
    const forwarded = headers['x-forwarded-proto'];
    return forwardedProtocol(socket.remoteAddress, forwarded, this.#settings.proxies) ?? protocol;
  }

  get callerId(): string | undefined {
    return this.holder?.callerId ?? this.holder?.id;
  }

  get traceparent(): string | undefined {
    const traceparent = fieldOf(this.#ctx, 'traceparent');
    const isUsable =
      traceparent !== undefined && TRACEPARENT.test(traceparent) && !this.#settings.isSecret(traceparent);
    return isUsable ? traceparent : undefined;
  }
}

/** Returns the path of the request target, or an empty string if the target is not a URL. */
export function pathOf(ctx: Pick<Context, 'path' | 'url' | 'req' | 'originalUrl'>): string {
  const { originalUrl = ctx.originalUrl } = ctx.req;
  if (typeof originalUrl === 'string' && originalUrl !== ctx.url) {
    const [mounted = ''] = originalUrl.split('?', 1);
    if (needsApiKey(mounted)) return mounted;
  }
  try {
    // For the request target `http://`, `ctx.path` of Koa is null, although the declared type is `string`.
    return (ctx.path as string | null) ?? '';
  } catch {
    return '';
  }
}

/** A text that is too short to be secret, a UUID, or 32 hexadecimal digits. A generated API key has none of these forms. */
const REQUEST_ID = /^(?:[\w-]{1,15}|[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}|[\da-f]{32})$/i;

/** A shorter request id is never compared with an API key: a client could guess a key character by character. */
const SHORT = 15;

/** Created on use, because workerd refuses random bytes before the first request. */
let processId: string | undefined;
let counter = 0;

/**
 * Returns the `X-Request-Id` of the client, or a new id if the field is missing or malformed, or may contain an API key,
 * because request ids are logged and sent in responses.
 *
 * @param isSecret whether a text contains a part of an API key that can have any format
 */
function requestIdOf(ctx: Pick<Context, 'headers'>, isSecret: (text: string) => boolean): string {
  const given = fieldOf(ctx, 'x-request-id');
  if (given === undefined || !REQUEST_ID.test(given)) return newRequestId();
  if (given.length <= SHORT) return given;
  const isPresented = secretPartFinder([fieldOf(ctx, 'authorization') ?? '']);
  return isPresented(given) || isSecret(given) ? newRequestId() : given;
}

export function newRequestId(): string {
  processId ??= randomBytes(6).toString('base64url');
  counter += 1;
  return `${processId}-${counter.toString(36)}`;
}

/** The words of the paths of the API. Any other segment of a path could be a secret, in whatever encoding. */
const KNOWN = new Set('v1 pets store orders docs openapi.json livez readyz metrics'.split(' '));

const SEGMENTS_LIMIT = 3;

const SCHEME_AND_AUTHORITY = /^[a-z][\w+.-]*:\/\/[^/?#]*/i;

/**
 * Describes the path of a request that matches no route, for a log: the known segments at its start, and the length of the
 * path if there is more (`/v1/… (24 characters)`). Returns `undefined` if the target has no path.
 */
export function unmatchedPath(url: string): string | undefined {
  const [path = ''] = url.replace(SCHEME_AND_AUTHORITY, '').split(/[?#]/, 1);
  if (!path.startsWith('/')) return path === '' ? '/' : undefined;
  const segments = path.slice(1).split('/', SEGMENTS_LIMIT);
  const unknown = segments.findIndex((segment) => !KNOWN.has(segment));
  const known = `/${segments.slice(0, unknown === -1 ? undefined : unknown).join('/')}`;
  if (known === path) return path;
  return `${known === '/' ? '' : known}/… (${path.length} characters)`;
}
