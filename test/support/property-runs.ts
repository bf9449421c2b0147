/**
 * Which random cases a property checks. The environment variable `PROPERTY_RUNS` is a factor of their number: with
 * `PROPERTY_RUNS=10`, each property checks ten times as many cases as usual. `PROPERTY_SEED` selects other cases.
 */

const FACTOR = Number(process.env['PROPERTY_RUNS'] ?? 1);
if (!(FACTOR > 0))
  throw new Error(`PROPERTY_RUNS must be a positive number, got '${process.env['PROPERTY_RUNS']}'`);

const SEED = Number(process.env['PROPERTY_SEED'] ?? 1);
if (!Number.isInteger(SEED))
  throw new Error(`PROPERTY_SEED must be an integer, got '${process.env['PROPERTY_SEED']}'`);

/** The last argument of `fc.assert`. */
export function runs(usual = 100): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: Math.ceil(usual * FACTOR), seed: SEED };
}
