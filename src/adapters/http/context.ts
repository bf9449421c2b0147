/** What the stages of the API use of a Koa context. Koa's own context has it, and so has the one of the fetch handler. */

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

export type Next = () => Promise<unknown>;

/** A Koa middleware. */
export type Stage = (ctx: Context, next: Next) => unknown;

/** Returns the path of the request target, or an empty string if the target is not a URL. */
export function pathOf(ctx: Pick<Context, 'path'>): string {
  try {
    // For the request target `http://`, `ctx.path` of Koa is null, although the declared type is `string`.
    return (ctx.path as string | null) ?? '';
  } catch {
    return '';
  }
}

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
