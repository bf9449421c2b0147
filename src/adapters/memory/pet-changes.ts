/** Changes and removes pets in memory. */

import type { ListedVersion, PetChanges, PetVersion } from '../../application/ports/pet-changes.ts';
import { type Pet, storedPet } from '../../domain/pet.ts';
import { changesPage, lastRevisionOf } from '../storage-kit/changes-page.ts';
import { randomHex } from '../storage-kit/random-hex.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

/** The port, with synchronous methods for a caller that stores an idempotency record in the same step. */
export interface MemoryPetChanges extends PetChanges {
  findNow(id: bigint): PetVersion | undefined;
  /** Replaces a pet, or removes it if `changed` is undefined. */
  writeNow(id: bigint, changed: Pet | undefined, expected: bigint): bigint | undefined;
}

/**
 * Stores the revisions of pets that were changed or removed. The repository stores the pets. Each page of changes is found
 * by iterating over these revisions from the first one.
 */
export function memoryChanges(pets: MemoryPetRepository, closed: AbortSignal): MemoryPetChanges {
  /** By the id of the pet, in ascending order of revision. */
  const revisions = new Map<bigint, bigint>();
  /** Generated on first use, because some platforms provide no random values while a program starts. */
  let epoch: string | undefined;

  function findNow(id: bigint): PetVersion | undefined {
    const pet = pets.findNow(id);
    const revision = revisions.get(id) ?? pet?.id;
    return revision === undefined ? undefined : { pet, revision };
  }

  function writeNow(id: bigint, changed: Pet | undefined, expected: bigint): bigint | undefined {
    const version = findNow(id);
    if (version?.pet === undefined || version.revision !== expected) return undefined;
    const revision = pets.replaceNow(id, changed);
    // Deleted first, because an entry that is replaced keeps its place in the map.
    revisions.delete(id);
    revisions.set(id, revision);
    return revision;
  }

  return {
    findNow,
    writeNow,
    find: async (id) => findNow(id),
    replace: async (pet, expected) => writeNow(pet.id, storedPet(pet.id, pet), expected),
    remove: async (id, expected) => writeNow(id, undefined, expected),
    async list({ after = 0n, limit }) {
      const changed: ListedVersion[] = [];
      for (const [id, revision] of revisions) {
        if (changed.length > limit) break;
        if (revision > after) changed.push({ id, pet: pets.findNow(id), revision });
      }
      const last = lastRevisionOf(changed, limit);
      const unchanged = pets.selectNow(({ id }) => !revisions.has(id), limit + 1, after, last);
      epoch ??= randomHex(8);
      return changesPage({ after, limit, changed, unchanged, epoch, lastNumber: pets.lastId });
    },
    async beginEpoch() {
      closed.throwIfAborted();
      epoch = randomHex(8);
    },
  };
}
