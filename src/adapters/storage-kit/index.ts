/** `animal-store/storage-kit`: what the storages of this package are built of, for those who write their own. */

export { CallQueue, type CallQueueOptions, type QueuedCall } from './call-queue.ts';
export { exactlyOnce, petRemoved, type Records } from './exactly-once.ts';
export { Gathering } from './gathering.ts';
export { KnownFaults } from './known-faults.ts';
export { PageCache, pageKey } from './page-cache.ts';
export { importStaged, type StagingTable } from './staged-import.ts';
