/** Generates load as fast as the server responds, with wrk if it is installed, or else with a process of Node.js. */

import { join } from 'node:path';
import { has, runToEnd } from '../processes.ts';
import type { Work } from '../works.ts';
import { type Reported, runStreams, type StreamsLoad } from './streams.ts';

export interface ClosedLoad extends Omit<StreamsLoad, 'streams'> {
  readonly work: Work;
  readonly connections: number;
}

export interface LoadResult extends Reported {
  /** The share of one core that the load generator used. */
  readonly share: number | undefined;
}

export const generator: 'wrk' | 'node:http' = has('wrk') ? 'wrk' : 'node:http';

export async function runClosed(load: ClosedLoad): Promise<LoadResult> {
  if (generator === 'wrk') return wrk(load);
  const { work, connections } = load;
  const { share, results } = await runStreams({
    ...load,
    streams: [{ works: [work], rate: 0, connections }],
  });
  return { share, ...(results[0] as Reported) };
}

/** Runs wrk, which accepts only whole seconds. For any other duration, SIGINT makes wrk report earlier. */
async function wrk(load: ClosedLoad): Promise<LoadResult> {
  const { origin, work, pets, key, seconds, connections, idempotencyKeys, epoch = '-' } = load;
  const whole = Math.ceil(seconds);
  const script = join(import.meta.dirname, 'wrk.lua');
  const options = ['-t1', `-c${connections}`, `-d${whole}s`, '--timeout', '30s', '-s', script, origin];
  const args = [...options, '--', work, String(pets), key, epoch, ...(idempotencyKeys ? ['keys'] : [])];
  const interruptAfter = whole === seconds ? undefined : seconds * 1000;
  const { output, share } = await runToEnd(['wrk', ...args], { interruptAfter });
  return { share, ...(JSON.parse(output.trim().split('\n').at(-1) ?? '') as Reported) };
}
