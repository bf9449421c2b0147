/** Generates load at a steady rate, in a separate process that runs `steady.ts`. */

import { join } from 'node:path';
import { runToEnd } from '../processes.ts';
import type { Work } from '../works.ts';

export interface StreamOptions {
  readonly name: string;
  /** The kinds of work that are requested in turn. */
  readonly works: readonly Work[];
  /**
   * The number of requests per second. If the rate is 0, a connection sends its next request as soon as it has a
   * response.
   */
  readonly rate: number;
  readonly connections: number;
}

export interface SteadyLoad {
  readonly port: number;
  readonly key: string;
  readonly pets: number;
  readonly seconds: number;
  readonly warmup: number;
  readonly streams: readonly StreamOptions[];
}

/** The result of one stream of requests. Times are in milliseconds. */
export interface StreamResult {
  readonly name: string;
  readonly sent: number;
  readonly responses: number;
  readonly refused: number;
  /** The number of requests that were due but not sent, because no connection was free. */
  readonly unsent: number;
  /** The number of responses per second during the measurement. */
  readonly perSecond: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
  /** The 99th percentile of how late the generator sent a request. This delay is a part of each latency. */
  readonly lag: number;
}

export interface SteadyResult {
  readonly streams: readonly StreamResult[];
}

export async function runSteady(load: SteadyLoad): Promise<SteadyResult> {
  const { output } = await runToEnd([
    process.execPath,
    join(import.meta.dirname, 'steady.ts'),
    JSON.stringify(load),
  ]);
  return JSON.parse(output) as SteadyResult;
}
