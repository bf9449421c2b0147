import { describe, test } from 'vitest';
import { openSqliteStorage } from '../../src/adapters/sqlite/storage.ts';
import type { Storage } from '../../src/application/ports.ts';
import { apiKeyRepositoryContract } from '../../src/testing/api-key-repository.ts';
import type { Opened, Subject } from '../../src/testing/contract.ts';
import { petRepositoryContract } from '../../src/testing/pet-repository.ts';
import { petTransferContract, type TransferStore } from '../../src/testing/pet-transfer.ts';
import { temporaryFile } from './sqlite-file.ts';

function subject<Port>(portOf: (storage: Storage) => Port): Subject<Port> {
  const paths = new WeakMap<Opened<Port>, string>();
  const openAt = async (path: string) => {
    const storage = openSqliteStorage(path);
    const opened = { port: portOf(storage), close: () => storage.close() };
    paths.set(opened, path);
    return opened;
  };
  return {
    open: () => openAt(temporaryFile()),
    reopen: (closed) => openAt(paths.get(closed) ?? ''),
  };
}

describe('PetRepository on SQLite', () => {
  for (const { name, run } of petRepositoryContract(subject(({ pets }) => pets))) test(name, run);
});

describe('ApiKeyRepository on SQLite', () => {
  for (const { name, run } of apiKeyRepositoryContract(subject(({ apiKeys }) => apiKeys))) test(name, run);
});

describe('PetTransfer on SQLite', () => {
  for (const { name, run } of petTransferContract(subject<TransferStore>((storage) => storage)))
    test(name, run);
});
