/** Tests the adapter against the contracts of its ports: `node --test contract.js`, after `tsc`. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { idempotentCreatesContract, petRepositoryContract } from 'animal-store/testing';
import { openJsonFile } from './json-file.js';

const folder = await mkdtemp(join(tmpdir(), 'json-file-'));
after(() => rm(folder, { recursive: true }));

let count = 0;

/** A new, empty store. */
async function openNew() {
  count += 1;
  return openAgain();
}

async function openAgain() {
  const store = await openJsonFile(join(folder, `${count}.json`));
  return { port: store, close: () => store.close() };
}

async function petsOf(opening: ReturnType<typeof openNew>) {
  const { port, close } = await opening;
  return { port: port.pets, close };
}

const cases = [
  ...petRepositoryContract({ open: () => petsOf(openNew()), reopen: () => petsOf(openAgain()) }),
  ...idempotentCreatesContract({ open: openNew, reopen: openAgain }),
];
for (const { name, run } of cases) test(name, run);
