/** How much is tried, from `FAULTS_*` environment variables. The defaults fit a build server. */

/** What every figure and every failure is reproduced with. `FAULTS_SEED=random` takes a new one. */
export const SEED: number =
  process.env['FAULTS_SEED'] === 'random'
    ? Math.floor(Math.random() * 2 ** 32)
    : integer('FAULTS_SEED', 1, 0, 2 ** 32 - 1);

/** How many raw HTTP messages are generated. */
export const MESSAGES: number = integer('FAULTS_MESSAGES', 10_000);

/** Sends this one of the generated messages alone: the number that a failure names. */
export const ONLY: number | undefined =
  process.env['FAULTS_ONLY'] === undefined ? undefined : integer('FAULTS_ONLY', 0, 0);

/** How many JSON numbers are sent as `categoryId`. */
export const NUMBERS: number = integer('FAULTS_NUMBERS', 100_000);

/** How long the soak lasts. */
export const SECONDS: number = integer('FAULTS_SECONDS', 30, 8);

/** Which attacks of the soak run, by name; all of them unless it is set. */
export const ATTACKS: readonly string[] | undefined = process.env['FAULTS_ATTACKS']?.split(',');

/** Where the log of the soak goes; one after the other unless it is set. */
export const LOG: string | undefined = process.env['FAULTS_LOG'];

/** How often the server is killed while it creates. */
export const ROUNDS: number = integer('FAULTS_ROUNDS', 5);

function integer(name: string, fallback: number, min = 1, max = Number.MAX_SAFE_INTEGER): number {
  const text = process.env[name] ?? String(fallback);
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`${name}: expected an integer from ${min} to ${max}, got '${text}'`);
}
