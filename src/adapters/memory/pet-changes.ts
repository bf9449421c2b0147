/** Changes and removes pets in memory. */

import type {
  ChangesPage,
  ChangesQuery,
  ListedVersion,
  PetChanges,
  PetVersion,
} from '../../application/ports/pet-changes.ts';
import { type Pet, storedPet } from '../../domain/pet.ts';
import { changesPage, lastRevisionOf } from '../storage-kit/changes-page.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

/**
 * Stores the revisions of pets that were changed or removed. The repository stores the pets. Each page of the feed is found by
 * iterating over the revisions from the first one.
 */
export class MemoryPetChanges implements PetChanges {
  readonly #pets: MemoryPetRepository;
  /** Drawn at the first use, because some platforms allow no random values while a program starts. */
  #epoch: string | undefined;
  /** By the id of the pet, in ascending order of revision. */
  readonly #revisions = new Map<bigint, bigint>();

  constructor(pets: MemoryPetRepository) {
    this.#pets = pets;
  }

  async find(id: bigint): Promise<PetVersion | undefined> {
    return this.findNow(id);
  }

  findNow(id: bigint): PetVersion | undefined {
    const pet = this.#pets.findNow(id);
    const revision = this.#revisions.get(id) ?? pet?.id;
    return revision === undefined ? undefined : { pet, revision };
  }

  async replace(pet: Pet, expected: bigint): Promise<bigint | undefined> {
    return this.writeNow(pet.id, storedPet(pet.id, pet), expected);
  }

  async remove(id: bigint, expected: bigint): Promise<bigint | undefined> {
    return this.writeNow(id, undefined, expected);
  }

  /** Replaces or removes a pet synchronously, so that the caller can store an idempotency record in the same step. */
  writeNow(id: bigint, changed: Pet | undefined, expected: bigint): bigint | undefined {
    const version = this.findNow(id);
    if (version?.pet === undefined || version.revision !== expected) return undefined;
    const revision = this.#pets.replaceNow(id, changed);
    // Deleted first, because an entry that is replaced keeps its place in the map.
    this.#revisions.delete(id);
    this.#revisions.set(id, revision);
    return revision;
  }

  async list({ after = 0n, limit }: ChangesQuery): Promise<ChangesPage> {
    const changed: ListedVersion[] = [];
    for (const [id, revision] of this.#revisions) {
      if (changed.length > limit) break;
      if (revision > after) changed.push({ id, pet: this.#pets.findNow(id), revision });
    }
    const last = lastRevisionOf(changed, limit);
    const unchanged = this.#pets.selectNow(({ id }) => !this.#revisions.has(id), limit + 1, after, last);
    this.#epoch ??= newEpoch();
    const { lastId: lastNumber } = this.#pets;
    return changesPage({ after, limit, changed, unchanged, epoch: this.#epoch, lastNumber });
  }

  async beginEpoch(): Promise<void> {
    this.#epoch = newEpoch();
  }
}

function newEpoch(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
