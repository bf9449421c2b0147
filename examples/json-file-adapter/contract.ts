/** Tests the adapter against the contract of its port: `node --test contract.ts`. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import type { PetRepository } from 'animal-store';
import { type Opened, petRepositoryContract } from 'animal-store/testing';
import { openJsonFile } from './json-file.ts';

const folder = await mkdtemp(join(tmpdir(), 'json-file-'));
after(() => rm(folder, { recursive: true }));

const paths = new WeakMap<Opened<PetRepository>, string>();
let count = 0;

async function openAt(path: string): Promise<Opened<PetRepository>> {
  const pets = await openJsonFile(path);
  const opened = { port: pets, close: () => pets.close() };
  paths.set(opened, path);
  return opened;
}

const cases = petRepositoryContract({
  open: () => openAt(join(folder, `${++count}.json`)),
  reopen: (closed) => openAt(paths.get(closed) ?? ''),
});
for (const { name, run } of cases) test(name, run);
