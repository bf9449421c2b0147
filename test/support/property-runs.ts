/**
 * Which random cases a property checks. The environment variable `PROPERTY_RUNS` multiplies their number: with
 * `PROPERTY_RUNS=10`, each property checks ten times as many cases as usual. `PROPERTY_SEED` selects other cases.
 */

const FACTOR = Number(process.env['PROPERTY_RUNS'] ?? 1);
const SEED = Number(process.env['PROPERTY_SEED'] ?? 1);

/** The last argument of `fc.assert`. */
export function runs(usual = 100): { readonly numRuns: number; readonly seed: number } {
  return { numRuns: Math.ceil(usual * FACTOR), seed: SEED };
}
