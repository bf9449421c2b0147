/** A storage with a writer thread whose replies are held back. */

import type { Worker } from 'node:worker_threads';
import { onTestFinished, vi } from 'vitest';
import { openSqliteStorage } from '../../../src/adapters/sqlite/index.ts';
import type { Reply } from '../../../src/adapters/sqlite/writer-thread.ts';
import type { Commit } from '../../../src/application/ports/observer.ts';
import type { Storage } from '../../../src/application/ports/storage.ts';
import type { StorageFaultReason } from '../../../src/application/ports/storage-fault.ts';
import { until } from '../../support/clock.ts';
import { REX, temporaryFile } from './temporary-file.ts';
import { startedThreads } from './warm-storage.ts';

/** Lets time pass on a fake clock. */
export async function pass(milliseconds: number): Promise<void> {
  await vi.advanceTimersByTimeAsync(milliseconds);
}

/** The replies of a thread, which do not arrive until `release` is called. */
interface HeldReplies {
  /** Resolves when the thread has sent this number of replies. */
  sent(count: number): Promise<void>;
  /** Delivers the oldest reply, with some properties changed. */
  deliverNext(change?: Partial<Reply>): void;
  release(): void;
}

/** The storage, its thread, and the notifications that its observer has received. */
interface HeldStorage {
  readonly storage: Storage;
  readonly path: string;
  readonly thread: Worker;
  readonly replies: HeldReplies;
  readonly states: readonly (StorageFaultReason | undefined)[];
  readonly commits: readonly Commit[];
}

function holdReplies(thread: Worker): HeldReplies {
  const [deliver] = thread.listeners('message') as [(reply: Reply) => void];
  const held: Reply[] = [];
  const hold = (reply: Reply) => held.push(reply);
  thread.off('message', deliver);
  thread.on('message', hold);
  return {
    async sent(count: number): Promise<void> {
      await until(() => held.length >= count);
    },
    deliverNext(change: Partial<Reply> = {}): void {
      deliver({ ...(held.shift() as Reply), ...change });
    },
    release(): void {
      thread.off('message', hold);
      thread.on('message', deliver);
      for (const reply of held.splice(0)) deliver(reply);
    },
  };
}

/** Opens a storage that contains one pet, and holds back the replies of its thread. */
export async function openHeld(): Promise<HeldStorage> {
  const path = temporaryFile();
  const states: (StorageFaultReason | undefined)[] = [];
  const commits: Commit[] = [];
  const threads = startedThreads();
  const storage = openSqliteStorage(path, {
    observer: {
      onStorageState: (fault) => states.push(fault?.reason),
      onCommit: (commit) => commits.push(commit),
    },
  });
  onTestFinished(() => storage.close());
  await storage.pets.add(REX);
  commits.length = 0;
  const thread = threads[0] as Worker;
  const replies = holdReplies(thread);
  onTestFinished(() => replies.release());
  return { storage, path, thread, replies, states, commits };
}
