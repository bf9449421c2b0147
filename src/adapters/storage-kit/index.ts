/** `animal-store/storage-kit`: the parts that the storages of this package share, for a storage of your own. */

export { listQuery as pageKey } from '../../application/list-pets.ts';
export { idsNotAccepted } from '../../application/ports/pet-transfer.ts';
export { changesPage, EXAMINED_LIMIT, lastRevisionOf, type ReadChanges } from './changes-page.ts';
export { KnownFaults } from './known-faults.ts';
export { PageCache } from './page-cache.ts';
export { exactlyOnce, type Records, recordOf, replayedPet, responseOf } from './records.ts';
