/** Functions with which the middleware of the API responds. */

import { hash } from 'node:crypto';
import type { ApiContext } from './state.ts';

const JSON_TYPE = 'application/json';

/** Responds with JSON that must not be cached. */
export function respondJson(ctx: ApiContext, status: number, body: string): void {
  ctx.status = status;
  ctx.set({ 'Content-Type': JSON_TYPE, 'Cache-Control': 'no-store' });
  ctx.body = body;
}

export function noContent(ctx: ApiContext): void {
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

/** Returns a strong entity tag. For the JSON of a pet, `entityTagOf` of the store must return the same tag. */
export function entityTag(content: string | Uint8Array): string {
  return `"${hash('sha256', content, 'base64url')}"`;
}

/** Responds with status 304 when the client has the current representation, and otherwise with the body. */
export function respondRevalidated(ctx: ApiContext, { body, etag, type = JSON_TYPE }: Representation): void {
  ctx.set({ 'Cache-Control': 'private, no-cache', ETag: etag });
  const tags = ctx
    .get('if-none-match')
    .split(',')
    .map((each) => each.trim());
  // The comparison is weak: it ignores `W/`.
  const isCurrent = tags.some((each) => each === '*' || each.replace(/^W\//, '') === etag);
  ctx.status = isCurrent ? 304 : 200;
  if (isCurrent) return;
  ctx.set('Content-Type', type);
  ctx.body = body;
}
