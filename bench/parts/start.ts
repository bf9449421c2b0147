/** Measures the time from starting `node` to the first response, with an existing file. */

import { API_KEY, filledFile, workingCopy } from '../data.ts';
import type { Options } from '../options.ts';
import type { Definition } from '../results.ts';
import { median } from '../rounds.ts';
import { OURS, startServer } from '../servers.ts';
import { table, whole } from '../table.ts';

export interface StartTimes {
  readonly pets: number;
  /** The time of each start, in milliseconds. */
  readonly times: readonly number[];
  readonly median: number;
}

async function measure({ pets, rounds }: Options): Promise<StartTimes> {
  const template = filledFile(pets);
  const times: number[] = [];
  for (let round = 0; round < 2 * rounds - 1; round++) {
    const file = workingCopy(template);
    const start = performance.now();
    const server = await startServer(OURS, { url: `sqlite:${file}` });
    await firstResponse(`${server.origin}/v1/pets`);
    times.push(performance.now() - start);
    await server.stop();
  }
  return { pets, times, median: median(times) ?? 0 };
}

async function firstResponse(url: string): Promise<void> {
  const response = await fetch(url, { headers: { Authorization: `Bearer ${API_KEY}`, Connection: 'close' } });
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`the first response has status ${response.status}`);
}

function startTable({ pets, times, median: middle }: StartTimes): string {
  return table(
    ['from node to the first response', 'median ms', 'slowest ms'],
    [[`${whole(pets)} pets`, whole(middle), whole(Math.max(...times))]],
  );
}

export const START: Definition<StartTimes> = {
  title: 'animal-store, start time',
  measure,
  table: startTable,
};
