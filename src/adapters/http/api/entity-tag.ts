import { hash } from 'node:crypto';

/** Returns a strong entity tag for a text (RFC 9110, section 8.8.3). */
export function entityTag(text: string): string {
  return `"${hash('sha256', text, 'base64url')}"`;
}

/** Whether an `If-None-Match` field matches a strong entity tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  if (ifNoneMatch === etag || ifNoneMatch === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
