/** `If-Match` and `If-None-Match` (RFC 9110, section 13). No resource has a date of modification, so dates are ignored. */

import { type Context, fieldOf } from './context.ts';
import { HttpError } from './errors.ts';

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
