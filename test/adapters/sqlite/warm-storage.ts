/** Storages whose writer thread is running and known to the test. */

import type { Worker } from 'node:worker_threads';
import { onTestFinished } from 'vitest';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { Pet } from '../../../src/domain/pet.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';

/** Returns the threads that are started until the end of the test. */
export function startedThreads(): Worker[] {
  const threads: Worker[] = [];
  const remember = (thread: Worker) => threads.push(thread);
  process.on('worker', remember);
  onTestFinished(() => void process.off('worker', remember));
  return threads;
}

export function addMany({ pets }: Storage, count: number): Promise<Pet>[] {
  return Array.from({ length: count }, (_, index) => pets.add(samplePet(`pet ${index}`, index)));
}

export async function outcomesOf(adds: readonly Promise<Pet>[]): Promise<{ added: Pet[]; codes: string[] }> {
  const settled = await Promise.allSettled(adds);
  return {
    added: settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])),
    codes: settled.flatMap((each) => (each.status === 'rejected' ? [each.reason.code] : [])),
  };
}
