/** Load as fast as the server answers: wrk where it is installed, else autocannon in a process of its own. */

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
}

/** What the generator reports; times in milliseconds. */
export interface Reported {
  readonly requests: number;
  readonly seconds: number;
  /** Everything received, headers too. */
  readonly bytes: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
  /** Answers that are not 2xx. */
  readonly refused: number;
  /** Connections that failed or timed out. */
  readonly broken: number;
  readonly createsSent: number;
  /** Share of one core that the generator used, where it knows by itself. */
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

/** wrk counts in whole seconds; an interrupt makes it report earlier. */
function wrk({ origin, work, pets, key, seconds, connections }: ClosedLoad) {
  const whole = Math.ceil(seconds);
  const script = join(import.meta.dirname, 'wrk.lua');
  const options = ['-t1', `-c${connections}`, `-d${whole}s`, '--timeout', '30s', '-s', script, origin];
  return runToEnd(
    ['wrk', ...options, '--', work, String(pets), key],
    whole === seconds ? undefined : seconds * 1000,
  );
}

function autocannon(load: ClosedLoad) {
  return runToEnd([process.execPath, join(import.meta.dirname, 'autocannon.ts'), JSON.stringify(load)]);
}
