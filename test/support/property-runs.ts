/**
 * How many random cases a property checks. The environment variable `PROPERTY_RUNS` is a factor: with
 * `PROPERTY_RUNS=10`, each property checks ten times as many cases as usual.
 */

const FACTOR = Number(process.env['PROPERTY_RUNS'] ?? 1);
if (!(FACTOR > 0))
  throw new Error(`PROPERTY_RUNS must be a positive number, got '${process.env['PROPERTY_RUNS']}'`);

/** The last argument of `fc.assert`. */
export function runs(usual = 100): { readonly numRuns: number } {
  return { numRuns: Math.ceil(usual * FACTOR) };
}
