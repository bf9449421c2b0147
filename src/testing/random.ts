/** A source of random numbers. Returns an integer from 0 to `below` - 1. */
export type Random = (below: number) => number;

/** Returns a mulberry32 generator, which yields the same numbers for the same seed. */
export function randomNumbers(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}
