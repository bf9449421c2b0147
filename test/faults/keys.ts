/** The API keys of a run. They are derived from the seed, so that a run can send the same bytes again. */

import { formatApiKey } from '../../src/domain/api-key.ts';
import { piecesOf } from '../support/canary.ts';
import { Random } from './random.ts';

export interface Keys {
  /** In the format of `keys create`. */
  readonly generated: string;
  /** In another format, as an operator may choose one. */
  readonly operator: string;
}

const VISIBLE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=!#$%&()*:;<>?@[]^{|}';

export function keysOf(seed: number): Keys {
  const random = new Random(seed, 0x6b65_7973);
  const generated = formatApiKey(Uint8Array.from({ length: 32 }, () => random.below(256)));
  return { generated, operator: `canary-${random.text(VISIBLE, 40)}` };
}

/** Pieces of the secret part of each key, in lower case. None of them may appear in a response or in the log. */
export function secretPieces({ generated, operator }: Keys): readonly string[] {
  return [generated, operator].flatMap(piecesOf);
}

/** Returns the first piece of a secret that a text contains, in any case. */
export function findSecret(text: string, pieces: readonly string[]): string | undefined {
  const lowered = text.toLowerCase();
  return pieces.find((piece) => lowered.includes(piece));
}
