/** The one place that writes an answer, and what is told of it to a log. */

import type { Context } from 'koa';
import type { ApiKeyHolder } from '../../application/ports.ts';
import { DEPRECATION_HEADERS, isDeprecated } from './deprecation.ts';
import { errorAnswer, type Headers } from './errors.ts';
import { API_HEADERS, JSON_HEADERS, NO_STORE } from './headers.ts';

/** An answered request. It never holds a key or a body. */
export interface AnsweredRequest {
  readonly method: string;
  /** The path's template, such as `/v1/pets/{petId}`; `undefined` when none fits. */
  readonly route: string | undefined;
  readonly status: number;
  /** Milliseconds from the request's head to the answer. */
  readonly ms: number;
  readonly requestId: string;
  /** Whose key it was; `undefined` when no key was asked for or none was good. */
  readonly keyId: string | undefined;
  /** Set when the client had left before the answer. */
  readonly aborted: true | undefined;
}

/** Told of an answered request. */
export type OnAnswer = (request: AnsweredRequest) => void;

/** Told what was behind an answer of 500 or more. */
export type OnError = (error: unknown, requestId: string) => void;

/** What is known of a request on its way, in `ctx.state`. */
export interface RequestState {
  requestId: string;
  startedAt: number;
  route?: string;
  holder?: ApiKeyHolder;
  onAnswer?: OnAnswer | undefined;
  onError?: OnError | undefined;
}

/**
 * Writes head and body at once, past Koa's setters. `headers` are all there are, but for `Date`, `Connection`,
 * `Content-Length` and `X-Request-Id`. A text without any character beyond ASCII goes out as latin1, which Node.js
 * joins with the head.
 */
export function send(ctx: Context, status: number, headers: Headers, body: string | Buffer = ''): void {
  const { res } = ctx;
  const state = ctx.state as RequestState;
  ctx.respond = false;
  const length = Buffer.byteLength(body);
  const head = [...headers, 'X-Request-Id', state.requestId];
  if (status !== 204 && status !== 304) head.push('Content-Length', String(length));
  const aborted = res.destroyed || undefined;
  if (!res.headersSent) {
    const encoding = length === body.length ? 'latin1' : 'utf8';
    res.writeHead(status, head);
    res.end(body, encoding);
  }
  state.onAnswer?.({
    method: ctx.method,
    route: state.route,
    status,
    ms: Math.round((performance.now() - state.startedAt) * 1000) / 1000,
    requestId: state.requestId,
    keyId: state.holder?.id,
    aborted,
  });
}

/** An answer in JSON that nobody is to keep. */
export function sendJson(ctx: Context, status: number, body: string, headers: Headers = []): void {
  send(ctx, status, [...JSON_HEADERS, ...NO_STORE, ...headers], body);
}

export function sendNoContent(ctx: Context, headers: Headers): void {
  const deprecation = isDeprecated(ctx.req.url) ? DEPRECATION_HEADERS : [];
  send(ctx, 204, [...API_HEADERS, ...NO_STORE, ...deprecation, ...headers]);
}

/** Answers with the Error of the specification whatever was thrown. */
export function sendError(ctx: Context, error: unknown): void {
  const state = ctx.state as RequestState;
  const { status, headers, body } = errorAnswer(error, state.requestId);
  if (status >= 500) state.onError?.(error, state.requestId);
  const more = [...headers];
  if (status !== 401 && isDeprecated(ctx.req.url)) more.push(...DEPRECATION_HEADERS);
  if (ctx.req.headers.expect !== undefined && !more.includes('Connection')) more.push('Connection', 'close');
  if (more.includes('Connection')) ctx.res.shouldKeepAlive = false;
  sendJson(ctx, status, body, more);
}
