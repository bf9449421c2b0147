/** Load at a steady rate, from a separate process: see `steady.ts`. */

import { join } from 'node:path';
import { runToEnd } from '../processes.ts';
import type { Work } from '../works.ts';

export interface StreamOptions {
  readonly name: string;
  /** Requested in turn. */
  readonly works: readonly Work[];
  /** Requests per second; 0 sends the next request as soon as a response has arrived. */
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

/** Times are in milliseconds. */
export interface StreamResult {
  readonly name: string;
  readonly sent: number;
  readonly responses: number;
  readonly refused: number;
  /** Requests that were due but not sent, because no connection was free. */
  readonly unsent: number;
  /** Responses per second of the measurement. */
  readonly perSecond: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
  /** How late the generator sent, 99th percentile. This is a part of every latency. */
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
