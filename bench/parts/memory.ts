/** Measures the resident memory of animal-store at rest, under reads, and under continuous creates. */

import { setTimeout as sleep } from 'node:timers/promises';
import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { residentMemory } from '../processes.ts';
import { OURS } from '../servers.ts';
import { Session, type SessionOptions } from '../session.ts';
import { table } from '../table.ts';
import type { Work } from '../works.ts';

const SAMPLES = 20;

export interface Memory {
  readonly work: Work;
  readonly seconds: number;
  /** The resident memory before the load, in MB. */
  readonly atRest: number;
  readonly most: number;
  /** Samples of the resident memory during the load, in MB, which show whether the memory grows. */
  readonly series: readonly number[];
}

export async function measureMemory(options: Options): Promise<Memory[]> {
  const seconds = options.quick ? options.seconds : 4 * options.seconds;
  const works = (['list-random', 'get', 'create'] as const).filter((work) => options.works.includes(work));
  const found: Memory[] = [];
  for (const work of works) {
    const session: SessionOptions = { name: OURS, source: filledFile(options.pets), pets: options.pets };
    const memory = await Session.run(session, (running) => observe(running, work, seconds, options));
    if (memory !== undefined) found.push(memory);
  }
  return found;
}

async function observe(
  session: Session,
  work: Work,
  seconds: number,
  { connections, warmup }: Options,
): Promise<Memory | undefined> {
  await sleep(warmup * 1000);
  const { pid } = session.server;
  const atRest = residentMemory(pid);
  if (atRest === undefined) return undefined;
  const series: number[] = [];
  const sampling = setInterval(() => series.push(residentMemory(pid) ?? 0), (1000 * seconds) / SAMPLES);
  await session.load(work, { seconds, connections });
  clearInterval(sampling);
  return { work, seconds, atRest, most: Math.max(...series), series };
}

export function memoryTable(found: readonly Memory[]): string {
  if (found.length === 0) return 'Memory is measured on Linux only.';
  return table(
    ['work', 'at rest MB', 'most MB', 'halfway MB', 'at the end MB'],
    found.map(({ work, atRest, most, series }) =>
      [work, ...[atRest, most, series[Math.floor(series.length / 2)], series.at(-1)].map(megabytes)].map(
        String,
      ),
    ),
  );
}

function megabytes(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(0);
}
