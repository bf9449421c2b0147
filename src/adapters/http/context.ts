/** What the stages of the API read of a Koa context, and how they respond. The context of the fetch handler has it too. */

import { hash } from 'node:crypto';
import type { ApiKeyHolder } from '../../application/ports/api-key-verifier.ts';

/** What the API knows about a request, in `ctx.state.animalStore`. */
export interface RequestState {
  readonly requestId: string;
  /** The path of the request target. Empty if the request target is not a URL. */
  readonly path: string;
  /** The key holder; `undefined` before the API key is checked, and if the path needs none. */
  holder: ApiKeyHolder | undefined;
  /** The error that caused the response with status 500. */
  failure?: unknown;
}

export interface Context {
  /** The Koa app; `undefined` over the fetch handler. */
  readonly app?: { emit(event: 'error', error: unknown, ctx: Context): unknown } | undefined;
  readonly method: string;
  readonly url: string;
  readonly path: string;
  readonly querystring: string;
  readonly protocol: string;
  readonly ip: string;
  readonly req: {
    readonly httpVersion: string;
    readonly headers: Readonly<Record<string, string | string[] | undefined>>;
    /** Name, value, name, value. Empty if the runtime joins repeated fields. */
    readonly rawHeaders: readonly string[];
  };
  readonly res: {
    shouldKeepAlive: boolean;
    readonly writableFinished?: boolean;
    once(event: 'close', listener: () => void): unknown;
  };
  readonly request: object & { body?: unknown };
  readonly state: { animalStore: RequestState };
  params?: Readonly<Record<string, string>>;
  /** The routes whose path matches, by @koa/router. Their names are path templates, such as `/v1/pets/{petId}`. */
  matched?:
    | readonly { readonly name?: string | undefined; readonly methods: readonly string[] }[]
    | undefined;
  status: number;
  body: unknown;
  set(field: string, value: string): void;
  set(fields: Readonly<Record<string, string>>): void;
  remove(field: string): void;
  vary(field: string): void;
}

/** A Koa middleware. */
export type Stage = (ctx: Context, next: () => Promise<unknown>) => unknown;

export const METRICS_PATH = '/metrics';

/** The paths in the OpenAPI document are relative to this path. */
export const BASE_PATH = '/v1';

/** The paths that need an API key are those that belong to the API in every app. */
export function needsApiKey(path: string): boolean {
  return path.startsWith(BASE_PATH) && (path.length === BASE_PATH.length || path[BASE_PATH.length] === '/');
}

export function isHealthCheck(path: string): boolean {
  return path === '/livez' || path === '/readyz';
}

/** Returns the path of the request target, or an empty string if the target is not a URL. */
export function pathOf(ctx: Pick<Context, 'path'>): string {
  try {
    // For the request target `http://`, `ctx.path` of Koa is null, although the declared type is `string`.
    return (ctx.path as string | null) ?? '';
  } catch {
    return '';
  }
}

/** The id of the caller, which all keys of a series of rotated API keys share. */
export function callerOf({ state }: Context): string | undefined {
  const { holder } = state.animalStore;
  return holder?.callerId ?? holder?.id;
}

export function fieldOf({ req }: Context, name: string): string | undefined {
  const value = req.headers[name];
  return typeof value === 'string' ? value : undefined;
}

/** Whether a field, whose name is in lower case, has several lines. `headers` has only the first value of some. */
export function isRepeated({ req }: Context, name: string): boolean {
  return req.rawHeaders.filter((each, index) => index % 2 === 0 && each.toLowerCase() === name).length > 1;
}

/** Whether it is clear where a request ends (RFC 9112, section 6). A proxy and Node.js could disagree about the next one. */
export function isFramed({ httpVersion, headers }: Pick<Context['req'], 'httpVersion' | 'headers'>): boolean {
  const coding = headers['transfer-encoding'];
  return coding === undefined || (httpVersion === '1.1' && String(coding).toLowerCase() === 'chunked');
}

const JSON_TYPE = 'application/json';

/** Responds with JSON that must not be cached. */
export function respondJson(ctx: Context, status: number, body: string): void {
  ctx.status = status;
  ctx.set({ 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' });
  ctx.body = body;
}

export function noContent(ctx: Context): void {
  ctx.status = 204;
  ctx.set('Cache-Control', 'no-store');
}

/** A body with its entity tag, from which any number of responses can be created. */
export interface Representation {
  readonly body: string | Buffer;
  readonly etag: string;
  /** By default `application/json`. */
  readonly type?: string;
}

export function entityTag(content: string | Uint8Array): string {
  return `"${hash('sha256', content, 'base64url')}"`;
}

/** Responds with status 304 when the client has the current representation, and otherwise with the body. */
export function respondRevalidated(ctx: Context, { body, etag, type = JSON_TYPE }: Representation): void {
  ctx.set({ 'Cache-Control': 'private, no-cache', ETag: etag });
  const ifNoneMatch = fieldOf(ctx, 'if-none-match');
  const isCurrent = ifNoneMatch !== undefined && includesWeakly(ifNoneMatch, etag);
  ctx.status = isCurrent ? 304 : 200;
  if (isCurrent) return;
  ctx.set('Content-Type', type);
  ctx.body = body;
}

/** Whether a list of entity tags includes one in weak comparison, which ignores `W/`. `*` includes every one. */
function includesWeakly(field: string, etag: string): boolean {
  const elements = field.split(',').map((element) => element.trim());
  return elements.some((element) => element === '*' || element.replace(/^W\//, '') === etag);
}
