/** `animal-store/storage-kit`: what the storages of this package are built of, for those who write their own. */

export { exactlyOnce, petRemoved, type Records } from './exactly-once.ts';
export { KnownFaults } from './known-faults.ts';
export { PageCache, pageKey } from './page-cache.ts';
