/**
 * Preloaded into a server with several threads. The thread whose number is in the file of the variable `THREAD_DEATH`
 * throws an error that no code catches.
 */

import { readFileSync, rmSync } from 'node:fs';
import { workerData } from 'node:worker_threads';

const { THREAD_DEATH = '' } = process.env;
const index: number | undefined = workerData?.server?.index;

if (index !== undefined && THREAD_DEATH !== '') setInterval(dieWhenAsked, 5).unref();

function dieWhenAsked(): void {
  if (askedThread() !== String(index)) return;
  rmSync(THREAD_DEATH);
  throw new Error('the end of this thread was asked for');
}

function askedThread(): string | undefined {
  try {
    return readFileSync(THREAD_DEATH, 'utf8');
  } catch {
    return undefined;
  }
}
