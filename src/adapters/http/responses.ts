/** What successful responses have in common. */

import { hash } from 'node:crypto';
import { type Context, fieldOf } from './context.ts';

/** Responds with JSON that must not be cached. */
export function respondJson(ctx: Context, status: number, body: string): void {
  ctx.status = status;
  ctx.set({ 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
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
  /** Describes the body, and is `application/json` by default. */
  readonly type?: string;
  readonly encoding?: string | undefined;
}

export function entityTag(content: string | Uint8Array): string {
  return `"${hash('sha256', content, 'base64url')}"`;
}

/** Responds with status 304 when the client has the current representation, and otherwise with the body. */
export function respondRevalidated(
  ctx: Context,
  { body, etag, type = 'application/json', encoding }: Representation,
): void {
  const fields = { 'Cache-Control': 'private, no-cache', ETag: etag };
  const ifNoneMatch = fieldOf(ctx, 'if-none-match');
  if (ifNoneMatch !== undefined && includesWeakly(ifNoneMatch, etag)) {
    ctx.status = 304;
    ctx.set(fields);
    return;
  }
  ctx.status = 200;
  ctx.set({ ...fields, 'Content-Type': type });
  if (encoding !== undefined) ctx.set('Content-Encoding', encoding);
  ctx.body = body;
}

/** Whether a list of entity tags includes one in weak comparison, which ignores `W/`. `*` includes every one. */
function includesWeakly(field: string, etag: string): boolean {
  const elements = field.split(',').map((element) => element.trim());
  return elements.some((element) => element === '*' || element.replace(/^W\//, '') === etag);
}
