/** How the bytes of a message reach the server. */

import type { Random } from '../random.ts';

export interface Delivery {
  /** The offsets at which the bytes are cut into segments, in ascending order. */
  readonly cuts: readonly number[];
  /** The number of bytes that are sent. */
  readonly sent: number;
  /** What the client does then: wait for responses, close its side, or reset the connection. */
  readonly ending: 'wait' | 'half-close' | 'reset';
}

/** The maximum number of single bytes. More take too long. */
const DRIP_LIMIT = 400;

export function deliveryOf(length: number, random: Random): Delivery {
  const cuts = cutsOf(length, random);
  const roll = random.below(100);
  if (roll < 84) return { cuts, sent: length, ending: 'wait' };
  if (roll < 88) return { cuts, sent: length, ending: 'half-close' };
  const sent = random.below(length + 1);
  return { cuts, sent, ending: roll < 94 ? 'half-close' : 'reset' };
}

function cutsOf(length: number, random: Random): readonly number[] {
  const roll = random.below(100);
  if (roll < 65 || length < 2) return [];
  if (roll < 82) return [random.between(1, length - 1)];
  if (roll < 97 || length > DRIP_LIMIT) {
    const cuts = Array.from({ length: random.between(2, 8) }, () => random.between(1, length - 1));
    return [...new Set(cuts)].sort((a, b) => a - b);
  }
  return Array.from({ length: length - 1 }, (_, index) => index + 1);
}
