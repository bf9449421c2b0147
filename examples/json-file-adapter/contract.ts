/** Tests the adapter against the contracts of its ports: `node --test contract.js`, after `tsc`. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, mock, test } from 'node:test';
import {
  differentialContract,
  idempotentCreatesContract,
  type Opened,
  petRepositoryContract,
  type Subject,
} from 'animal-store/testing';
import { type JsonFileStorage, openJsonFile } from './json-file.js';

const folder = await mkdtemp(join(tmpdir(), 'json-file-'));
after(() => rm(folder, { recursive: true }));

mock.timers.enable({ apis: ['Date'], now: Date.now() });
let count = 0;

/** Returns the functions by which the contract of a port opens the storage and moves the clock. */
function subject<Port>(portOf: (storage: JsonFileStorage) => Port): Subject<Port> {
  const paths = new WeakMap<Opened<Port>, string>();
  async function openAt(path: string): Promise<Opened<Port>> {
    const storage = await openJsonFile(path);
    const opened = { port: portOf(storage), close: () => storage.close() };
    paths.set(opened, path);
    return opened;
  }
  return {
    open() {
      count += 1; // a new, empty store
      return openAt(join(folder, `${count}.json`));
    },
    reopen: (closed) => openAt(paths.get(closed) as string),
    moveClock: (_, milliseconds) => mock.timers.setTime(Date.now() + milliseconds),
  };
}

const cases = [
  ...petRepositoryContract(subject(({ pets }) => pets)),
  ...idempotentCreatesContract(subject((storage) => storage)),
  ...differentialContract(
    subject((storage) => storage),
    { lacks: ['apiKeys', 'transfer', 'changes', 'idempotentChanges'], steps: 60 },
  ),
];
for (const { name, run } of cases) test(name, run);
