/** The extent of the tests, from `FAULTS_*` environment variables. The defaults fit a build server. */

/** The seed reproduces every figure and every failure. `FAULTS_SEED=random` selects a new one. */
export const SEED: number =
  process.env['FAULTS_SEED'] === 'random'
    ? Math.floor(Math.random() * 2 ** 32)
    : integer('FAULTS_SEED', 1, 0, 2 ** 32 - 1);

/** The number of rude connections in front of nginx. */
export const RUDE: number = integer('FAULTS_RUDE', 2000, 100);

/** How often the server is killed, or its files are moved, during creates. */
export const ROUNDS: number = integer('FAULTS_ROUNDS', 5);

/** How often PostgreSQL stops, crashes and hangs under load. */
export const OUTAGES: number = integer('FAULTS_OUTAGES', 2);

/** How often a server is stopped under load. */
export const STOPS: number = integer('FAULTS_STOPS', 3);

/** How often each of two servers behind nginx is restarted under load. */
export const RESTARTS: number = integer('FAULTS_RESTARTS', 2);

/** How often each kind of failover is repeated. */
export const FAILOVERS: number = integer('FAULTS_FAILOVERS', 1);

function integer(name: string, fallback: number, min = 1, max = Number.MAX_SAFE_INTEGER): number {
  const text = process.env[name] ?? String(fallback);
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  throw new Error(`${name}: expected an integer from ${min} to ${max}, got '${text}'`);
}
