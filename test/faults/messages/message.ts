/** Generates messages. The same seed and number always give the same message. */

import type { Keys } from '../keys.ts';
import { Random } from '../random.ts';
import { type Delivery, deliveryOf } from './delivery.ts';
import { framing } from './framing.ts';
import { headerFields } from './header-fields.ts';
import { otherProtocol } from './other-protocols.ts';
import { pipeline } from './pipelines.ts';
import type { Context, Draft, Request } from './request.ts';
import { requestLine } from './request-lines.ts';
import { smuggling } from './smuggling.ts';

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
  ['request lines', requestLine],
  ['header fields', headerFields],
  ['framing', framing],
  ['smuggled requests', smuggling],
  ['pipelines', pipeline],
  ['other protocols', otherProtocol],
];

export function generateMessage(seed: number, number: number, keys: Keys): Message {
  const random = new Random(seed, number);
  const [, family] = FAMILIES[number % FAMILIES.length] as (typeof FAMILIES)[number];
  const draft = family(random, { number, keys });
  return messageOf(number, draft, deliveryOf(draft.text.length, random));
}

/** Creates a handwritten message. */
export function messageOf(number: number, draft: Draft, delivery: Delivery): Message {
  const { recipe, requests, isComplete, text } = draft;
  return { number, recipe, requests, isComplete, delivery, bytes: Buffer.from(text, 'latin1') };
}
