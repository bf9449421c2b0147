import type {
  ChangesPage,
  ChangesQuery,
  ListedVersion,
  PetChanges,
  PetVersion,
} from '../../application/ports/pet-changes.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { type Pet, storedPet } from '../../domain/pet.ts';
import { changesPage, EXAMINED_LIMIT, lastRevisionOf } from '../storage-kit/changes-page.ts';
import { countUpTo, type MemoryPetRepository } from './pet-repository.ts';

interface Change {
  readonly id: bigint;
  readonly revision: bigint;
}

/** Stores the revisions of the pets that were changed or removed. The pets themselves are those of the repository. */
export class MemoryPetChanges implements PetChanges {
  readonly #pets: MemoryPetRepository;
  /** Drawn at the first use: workerd opens a storage where it allows no random values. */
  #epoch: string | undefined;
  readonly #revisions = new Map<bigint, bigint>();
  /** In ascending order of revision. Entries that are not the newest of their pet are removed from time to time. */
  #log: Change[] = [];

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

  /** Replaces or removes a pet synchronously, so that the caller can add its own data in the same step. */
  writeNow(id: bigint, changed: Pet | undefined, expected: bigint): bigint | undefined {
    const version = this.findNow(id);
    if (version?.pet === undefined || version.revision !== expected) return undefined;
    const revision = this.#pets.takeNumber();
    this.#pets.replaceNow(id, changed);
    this.#revisions.set(id, revision);
    if (this.#log.length > 2 * this.#revisions.size) this.#log = this.#log.filter(this.#isNewest);
    this.#log.push({ id, revision });
    return revision;
  }

  async list({ after = 0n, limit }: ChangesQuery): Promise<ChangesPage> {
    const changed = this.#changedAfter(after, limit + 1);
    const last = lastRevisionOf(changed, limit) ?? INT64_MAX;
    const examined = this.#pets.petsAfter(after, EXAMINED_LIMIT);
    const unchanged: Pet[] = [];
    let examinedUpTo = examined.length === EXAMINED_LIMIT ? examined.at(-1)?.id : undefined;
    for (const pet of examined) {
      if (pet.id <= last && !this.#revisions.has(pet.id)) unchanged.push(pet);
      if (pet.id <= last && unchanged.length <= limit) continue;
      examinedUpTo = undefined;
      break;
    }
    const { lastId: lastNumber } = this.#pets;
    this.#epoch ??= newEpoch();
    return changesPage({ after, limit, changed, unchanged, examinedUpTo, epoch: this.#epoch, lastNumber });
  }

  async beginEpoch(): Promise<void> {
    this.#epoch = newEpoch();
  }

  readonly #isNewest = ({ id, revision }: Change): boolean => this.#revisions.get(id) === revision;

  #changedAfter(after: bigint, count: number): readonly ListedVersion[] {
    const found: ListedVersion[] = [];
    const start = countUpTo(this.#log, after, ({ revision }) => revision);
    for (let index = start; index < this.#log.length && found.length < count; index += 1) {
      const change = this.#log[index] as Change;
      if (this.#isNewest(change)) found.push({ ...change, pet: this.#pets.findNow(change.id) });
    }
    return found;
  }
}

function newEpoch(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
