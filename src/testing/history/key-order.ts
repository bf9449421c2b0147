/** Examines whether verifications of API keys fit the changes of the keys. */

import { described, type KeyEvent } from './events.ts';

/**
 * Describes a verification that contradicts the changes of its key. A key must be accepted from its creation to its revocation.
 * Clients may see each of these changes up to `visibilityTimeout` milliseconds later.
 */
export function keyContradiction(events: readonly KeyEvent[], visibilityTimeout: number): string | undefined {
  const created = firstOfEachKey(events, 'create key');
  const revoked = firstOfEachKey(events, 'revoke key');
  for (const event of events) {
    if (event.kind !== 'verify key') continue;
    const creation = created.get(event.keyId);
    const revocation = revoked.get(event.keyId);
    const isKnown = (change: KeyEvent) => change.endedAt + visibilityTimeout < event.calledAt;
    if (event.isAccepted) {
      if (creation !== undefined && event.end < creation.call)
        return `${described(event)} accepted a key before ${described(creation)}`;
      if (revocation !== undefined && isKnown(revocation))
        return `${described(event)} accepted a key ${visibilityTimeout} ms after ${described(revocation)}`;
    } else if (creation !== undefined && isKnown(creation)) {
      if (revocation === undefined || event.end < revocation.call)
        return `${described(event)} refused a key ${visibilityTimeout} ms after ${described(creation)}`;
    }
  }
  return undefined;
}

function firstOfEachKey(events: readonly KeyEvent[], kind: KeyEvent['kind']): Map<string, KeyEvent> {
  const ofKind = events.filter((event) => event.kind === kind);
  return new Map(ofKind.toReversed().map((event) => [event.keyId, event]));
}
