import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import type { Commit, Observer } from '../../../src/application/ports/observer.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { NewPet } from '../../../src/domain/pet.ts';
import { connect } from '../../support/sqlite.ts';
import { NO_DUPLICATES, REX, temporaryFile } from './temporary-file.ts';
import { controlClock } from './watched-storage.ts';

function open(path: string, observer: Observer): Storage {
  const storage = openSqliteStorage(path, { observer });
  onTestFinished(() => storage.close());
  return storage;
}

/** A storage, and the commits that it reported. */
function openObserved(path = temporaryFile()): { storage: Storage; commits: Commit[] } {
  const commits: Commit[] = [];
  const storage = open(path, {
    onCommit(commit) {
      commits.push(commit);
    },
  });
  return { storage, commits };
}

async function* batchOf(...pets: NewPet[]): AsyncGenerator<readonly NewPet[]> {
  yield pets;
}

describe('onCommit', () => {
  test('is called for keys, and counts a write of two statements as one write', async () => {
    const { storage, commits } = openObserved();
    const about = { name: 'ci', prefix: 'x', createdAt: 1 };
    const old = await storage.apiKeys.add('old', about);
    await storage.apiKeys.replace(old, 2, 'new', about);
    expect(commits.map(({ writes }) => writes)).toEqual([1, 1]);
  });

  test('is called for an import, once', async () => {
    const { storage, commits } = openObserved();
    await storage.transfer.importPets(batchOf(REX, REX, REX), NO_DUPLICATES);
    expect(commits).toEqual([{ writes: 3, ms: expect.any(Number) }]);
  });

  test('is not called for reads, probes and failed writes', async () => {
    controlClock();
    const path = temporaryFile();
    const { storage, commits } = openObserved(path);
    await storage.check();
    await storage.pets.list({ limit: 1 });
    const other = connect(path);
    other.exec('BEGIN IMMEDIATE');
    const refused = expect(storage.pets.add(REX)).rejects.toMatchObject({ code: 'storage_unavailable' });
    vi.advanceTimersByTime(5000);
    await refused;
    other.exec('ROLLBACK');
    await expect(
      storage.transfer.importPets(batchOf(REX), { ...NO_DUPLICATES, signal: AbortSignal.abort() }),
    ).rejects.toThrow();
    expect(commits).toEqual([]);
  });
});
