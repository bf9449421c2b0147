/** From `node` to the first answer, on a file that exists. */

import { get } from 'node:http';
import { API_KEY, filledFile, workingCopy } from '../data.ts';
import type { Options } from '../options.ts';
import { median } from '../rounds.ts';
import { OURS, startServer } from '../servers.ts';
import { table, whole } from '../table.ts';

export interface StartTimes {
  readonly pets: number;
  /** Milliseconds, one per start. */
  readonly times: readonly number[];
  readonly median: number;
}

export async function measureStart({ pets, rounds }: Options): Promise<StartTimes> {
  const template = filledFile(pets);
  const times: number[] = [];
  for (let round = 0; round < 2 * rounds - 1; round++) {
    const file = workingCopy(template);
    const start = performance.now();
    const server = await startServer(OURS, { file });
    await firstAnswer(`${server.origin}/v1/pets`);
    times.push(performance.now() - start);
    await server.stop();
  }
  return { pets, times, median: median(times) ?? 0 };
}

function firstAnswer(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${API_KEY}`, Connection: 'close' };
    get(url, { headers }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`the first answer is ${response.statusCode}`));
      response.resume().once('end', resolve);
    }).once('error', reject);
  });
}

export function startTable({ pets, times, median: middle }: StartTimes): string {
  return table(
    ['from node to the first answer', 'median ms', 'slowest ms'],
    [[`${whole(pets)} pets`, whole(middle), whole(Math.max(...times))]],
  );
}
