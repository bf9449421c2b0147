import { hash } from 'node:crypto';

/** Returns a strong entity tag for a text (RFC 9110, section 8.8.3). */
export function entityTag(text: string): string {
  return `"${hash('sha256', text, 'base64url')}"`;
}

/**
 * Whether the field value of `If-None-Match` is `*` or contains the entity tag of a response. The comparison ignores
 * the prefix `W/` (weak comparison), as RFC 9110, section 13.1.2, requires.
 */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
