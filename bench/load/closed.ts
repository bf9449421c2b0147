/**
 * Generates load as fast as the server responds, with wrk if it is installed, or else with autocannon in its own
 * process.
 */

import { join } from 'node:path';
import { has, runToEnd } from '../processes.ts';
import type { Work } from '../works.ts';

export interface ClosedLoad {
  readonly origin: string;
  readonly work: Work;
  readonly pets: number;
  readonly key: string;
  readonly seconds: number;
  readonly connections: number;
  /** Whether each create has a new `Idempotency-Key`. */
  readonly idempotencyKeys: boolean;
}

/** The report of a load generator. Times are in milliseconds, except `seconds`. */
export interface Reported {
  readonly requests: number;
  readonly seconds: number;
  /** The number of received bytes, including the header fields. */
  readonly bytes: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  /** The longest time that a client waited for a response. */
  readonly longest: number;
  /** The number of responses that are not 2xx. */
  readonly refused: number;
  /** The number of connections that failed or timed out. */
  readonly broken: number;
  readonly createsSent: number;
  /**
   * The share of one core that the load generator used, or `undefined` if the generator does not measure this share.
   */
  readonly share?: number;
}

export interface LoadResult extends Omit<Reported, 'share'> {
  readonly share: number | undefined;
}

export const generator: 'wrk' | 'autocannon' = has('wrk') ? 'wrk' : 'autocannon';

export async function runClosed(load: ClosedLoad): Promise<LoadResult> {
  const { output, share } = await (generator === 'wrk' ? wrk(load) : autocannon(load));
  const line = output.trim().split('\n').at(-1) ?? '';
  return { share, ...(JSON.parse(line) as Reported) };
}

/** Runs wrk, which accepts only whole seconds. For any other duration, SIGINT makes wrk report earlier. */
function wrk({ origin, work, pets, key, seconds, connections, idempotencyKeys }: ClosedLoad) {
  const whole = Math.ceil(seconds);
  const script = join(import.meta.dirname, 'wrk.lua');
  const options = ['-t1', `-c${connections}`, `-d${whole}s`, '--timeout', '30s', '-s', script, origin];
  return runToEnd(['wrk', ...options, '--', work, String(pets), key, ...(idempotencyKeys ? ['keys'] : [])], {
    interruptAfter: whole === seconds ? undefined : seconds * 1000,
  });
}

function autocannon(load: ClosedLoad) {
  return runToEnd([process.execPath, join(import.meta.dirname, 'autocannon.ts'), JSON.stringify(load)]);
}
