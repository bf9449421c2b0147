/** Tests the adapter against the contract of its port: `node --test contract.js`, after `tsc`. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { petRepositoryContract } from 'animal-store/testing';
import { openJsonFile } from './json-file.js';

const folder = await mkdtemp(join(tmpdir(), 'json-file-'));
after(() => rm(folder, { recursive: true }));

let count = 0;

async function openStore() {
  const port = await openJsonFile(join(folder, `${count}.json`));
  return { port, close: () => port.close() };
}

const cases = petRepositoryContract({
  open() {
    count += 1; // a new, empty store
    return openStore();
  },
  reopen: openStore,
});
for (const { name, run } of cases) test(name, run);
