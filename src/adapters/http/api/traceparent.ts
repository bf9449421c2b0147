import type { RequestHead } from './http.ts';

/** A valid `traceparent` of version 00 (W3C Trace Context). A trace id or a parent id of zeros is invalid. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Returns the `traceparent` of a request, or `undefined` when it is missing, repeated or invalid, or contains a part of
 * an API key.
 */
export function traceparentOf(
  { headers: { traceparent } }: RequestHead,
  isSecret: (text: string) => boolean,
): string | undefined {
  if (typeof traceparent !== 'string' || !TRACEPARENT.test(traceparent)) return undefined;
  return isSecret(traceparent) ? undefined : traceparent;
}
