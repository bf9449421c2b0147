/** Pseudo-random choices, which the same seed repeats on every machine. */

export class Random {
  #state: number;

  /** @param stream selects one of many independent sequences of a seed */
  constructor(seed: number, stream = 0) {
    this.#state = scramble(scramble(seed) ^ Math.imul(stream + 1, 0x9e37_79b9));
  }

  /** An unsigned 32-bit integer: mulberry32, by Tommy Ettinger (public domain). */
  next(): number {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  /** From 0 to `limit` - 1. */
  below(limit: number): number {
    return Math.floor((this.next() / 2 ** 32) * limit);
  }

  /** From `min` to `max`, both included. */
  between(min: number, max: number): number {
    return min + this.below(max - min + 1);
  }

  chance(probability: number): boolean {
    return this.next() < probability * 2 ** 32;
  }
}

function scramble(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return mixed ^ (mixed >>> 16);
}
