/** Measures the resident memory of one animal-store process at rest, under creates, under reads and under both. */

import { setTimeout as sleep } from 'node:timers/promises';
import { filledFile } from '../data.ts';
import type { Options } from '../options.ts';
import { residentMemory } from '../processes.ts';
import type { Definition } from '../results.ts';
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

/** One process does every kind of work, one after the other, beginning with creates. */
async function measure(options: Options): Promise<Memory[]> {
  const seconds = options.quick ? options.seconds : 2 * options.seconds;
  const order = ['create', 'list-random', 'get', 'mix'] as const;
  const found: Memory[] = [];
  const session: SessionOptions = { name: OURS, source: filledFile(options.pets), pets: options.pets };
  await Session.run(session, async (running) => {
    for (const work of order.filter((work) => options.works.includes(work))) {
      const memory = await observe(running, work, seconds, options);
      if (memory !== undefined) found.push(memory);
    }
  });
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

function memoryTable(found: readonly Memory[]): string {
  if (found.length === 0) return 'Memory is measured on Linux only.';
  return table(
    ['work', 'before MB', 'most MB', 'halfway MB', 'at the end MB'],
    found.map(({ work, atRest, most, series }) => {
      const halfway = series[Math.floor(series.length / 2)];
      return [work, ...[atRest, most, halfway, series.at(-1)].map(megabytes)];
    }),
  );
}

function megabytes(value: number | undefined): string {
  return value === undefined ? '' : value.toFixed(0);
}

export const MEMORY: Definition<readonly Memory[]> = {
  title: 'animal-store, resident memory',
  measure,
  table: memoryTable,
};
