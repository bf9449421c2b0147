import { hash } from 'node:crypto';
import { type Context, fieldOf } from './context.ts';
import { HttpError } from './errors.ts';

/** Responds with JSON that must not be cached. */
export function respondJson(ctx: Context, status: number, body: string): void {
  if (status === 200) checkRead(ctx, undefined);
  ctx.status = status;
  ctx.set('Content-Type', 'application/json');
  ctx.set('Cache-Control', 'no-store');
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
  checkRead(ctx, etag);
  ctx.set('Cache-Control', 'private, no-cache');
  ctx.set('ETag', etag);
  const ifNoneMatch = fieldOf(ctx, 'if-none-match');
  if (ifNoneMatch !== undefined && includesWeakly(ifNoneMatch, etag)) {
    ctx.status = 304;
    return;
  }
  ctx.status = 200;
  ctx.set('Content-Type', type);
  if (encoding !== undefined) ctx.set('Content-Encoding', encoding);
  ctx.body = body;
}

/** Refuses a GET or HEAD whose `If-Match` is false. Only called for a request that would succeed without it. */
export function checkRead(ctx: Context, etag: string | undefined): void {
  const ifMatch = fieldOf(ctx, 'if-match');
  if (ifMatch !== undefined && (ctx.method === 'GET' || ctx.method === 'HEAD')) checkIfMatch(ifMatch, etag);
}

/**
 * Refuses a create whose preconditions are false for the list at its target, which always exists.
 *
 * @param readTag resolves with the entity tag of the list
 */
export async function checkCreate(ctx: Context, readTag: () => Promise<string>): Promise<void> {
  const ifMatch = fieldOf(ctx, 'if-match');
  const ifNoneMatch = fieldOf(ctx, 'if-none-match');
  if (ifMatch === undefined && ifNoneMatch === undefined) return;
  const etag = await readTag();
  if (ifMatch !== undefined) checkIfMatch(ifMatch, etag);
  if (ifNoneMatch !== undefined && includesWeakly(ifNoneMatch, etag)) {
    throw new HttpError('precondition_failed', 'If-None-Match is false: the list has this entity tag');
  }
}

/** Whether a list of entity tags includes one in weak comparison, which ignores `W/`. `*` includes every one. */
export function includesWeakly(field: string, etag: string): boolean {
  return elementsOf(field).some((element) => element === '*' || element.replace(/^W\//, '') === etag);
}

/** In strong comparison, a weak tag matches nothing (section 8.8.3.2). */
function checkIfMatch(field: string, etag: string | undefined): void {
  if (elementsOf(field).some((element) => element === '*' || element === etag)) return;
  throw new HttpError('precondition_failed', 'If-Match is false: the response has another entity tag');
}

function elementsOf(field: string): string[] {
  return field.split(',').map((element) => element.trim());
}
