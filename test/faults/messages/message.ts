/**
 * Generates messages, and how their bytes reach the server. The same seed and number always give the same message.
 * `test/adapters/http/recorded.test.ts` has what is odd in a single request: its line, its header fields and its framing.
 */

import { Random } from '../random.ts';
import { pipeline } from './pipelines.ts';
import type { Context, Draft, Keys, Request } from './request.ts';
import { smuggling } from './smuggling.ts';

export interface Delivery {
  /** The offsets at which the bytes are cut into segments, in ascending order. */
  readonly cuts: readonly number[];
  /** The number of bytes that are sent. */
  readonly sent: number;
  /** What the client does then: wait for responses, close its side, or reset the connection. */
  readonly ending: 'wait' | 'half-close' | 'reset';
}

export interface Message {
  readonly number: number;
  readonly recipe: string;
  readonly requests: readonly Request[];
  readonly bytes: Buffer;
  readonly isComplete: boolean;
  readonly delivery: Delivery;
}

type Family = (random: Random, context: Context) => Draft;

/** Message `n` belongs to family `n` modulo the number of families. */
export const FAMILIES: readonly (readonly [name: string, family: Family])[] = [
  ['smuggled requests', smuggling],
  ['pipelines', pipeline],
];

export function generateMessage(seed: number, number: number, keys: Keys): Message {
  const random = new Random(seed, number);
  const [, family] = FAMILIES[number % FAMILIES.length] as (typeof FAMILIES)[number];
  const draft = family(random, { number, keys });
  const { text, ...others } = draft;
  const delivery = deliveryOf(text.length, random);
  return { number, ...others, delivery, bytes: Buffer.from(text, 'latin1') };
}

/** The maximum number of single bytes. More take too long. */
const DRIP_LIMIT = 400;

function deliveryOf(length: number, random: Random): Delivery {
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
