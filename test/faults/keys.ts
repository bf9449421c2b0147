/** The API keys of a run. They are derived from the seed, so that a run can send the same bytes again. */

import { formatApiKey } from '../../src/domain/api-key.ts';
import { Random } from './random.ts';

export interface Keys {
  /** In the format of `keys create`. */
  readonly generated: string;
  /** In another format, as an operator may choose one. */
  readonly operator: string;
}

const VISIBLE = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=!#$%&()*:;<>?@[]^{|}';

/** The length of the key prefix, which may be shown, such as in `keys list`. */
const PREFIX_LENGTH = 9;

/** A match of this length is not a coincidence. */
const PIECE_LENGTH = 14;

export function keysOf(seed: number): Keys {
  const random = new Random(seed, 0x6b65_7973);
  const generated = formatApiKey(Uint8Array.from({ length: 32 }, () => random.below(256)));
  return { generated, operator: `canary-${random.text(VISIBLE, 40)}` };
}

/** Pieces of the secret part of each key, in lower case. None of them may appear in a response or in the log. */
export function secretPieces({ generated, operator }: Keys): readonly string[] {
  return [generated, operator].flatMap((key) => {
    const secret = key.slice(PREFIX_LENGTH).toLowerCase();
    const inner = Math.floor((secret.length - PIECE_LENGTH) / 2);
    return [0, inner, secret.length - PIECE_LENGTH].map((start) => secret.slice(start, start + PIECE_LENGTH));
  });
}

/** Returns the first piece of a secret that a text contains, in any case. */
export function findSecret(text: string, pieces: readonly string[]): string | undefined {
  const lowered = text.toLowerCase();
  return pieces.find((piece) => lowered.includes(piece));
}
