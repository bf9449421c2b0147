/** Runs commands of the command line on the store in a folder, also while a server uses it. */

import { newPetJson } from '../../src/domain/pet-json.ts';
import { samplePet } from '../../src/testing/fixtures/pets.ts';
import { type RunningProcess, runBin } from '../support/process.ts';

/** The value of `DATABASE_URL` for the store in a folder. */
export function storeOf(folder: string): string {
  return `sqlite:${folder}/pets.db`;
}

export function startCommand(folder: string, args: readonly string[], input?: string): RunningProcess {
  const env = { DATABASE_URL: storeOf(folder) };
  return runBin(args, { cwd: folder, env, ...(input !== undefined && { input }) });
}

/** Resolves with the standard output. Rejects when the exit status is not 0. */
export async function runCommand(folder: string, args: readonly string[], input?: string): Promise<string> {
  const { exit, out } = startCommand(folder, args, input);
  const { code } = await exit;
  if (code !== 0) throw new Error(`animal-store ${args.join(' ')} ended with ${code}: ${out.stderr}`);
  return out.stdout;
}

/** Exports all pets, one line of JSON each. */
export async function exportOf(folder: string): Promise<string[]> {
  return (await runCommand(folder, ['export'])).split('\n').slice(0, -1);
}

/** Creates a store with pets of one name. */
export async function createStore(folder: string, pets: number, name: string): Promise<void> {
  const line = `${newPetJson(samplePet(name))}\n`;
  await runCommand(folder, ['import', '--create-store', '-'], line.repeat(pets));
}

/** The name of a pet, and its id, in the JSON of the API or of an export: both write the same characters. */
export function nameOf(text: string): string {
  return (JSON.parse(text) as { name: string }).name;
}

export function idOf(text: string): number {
  return Number(/^\{"id":(\d+),/.exec(text)?.[1]);
}
