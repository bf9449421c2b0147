import type {
  ChangesPage,
  ChangesQuery,
  ListedVersion,
  PetChanges,
  PetVersion,
} from '../../application/ports/pet-changes.ts';
import { type Pet, storedPet } from '../../domain/pet.ts';
import { EXAMINED_LIMIT } from '../storage-kit/changes-page.ts';
import { countUpTo, type LoggedWrite, type MemoryPetRepository } from './pet-repository.ts';

/** Stores the revisions of the pets that were changed or removed. The pets themselves are those of the repository. */
export class MemoryPetChanges implements PetChanges {
  readonly #pets: MemoryPetRepository;
  /** Drawn at the first use: workerd opens a storage where it allows no random values. */
  #epoch: string | undefined;
  readonly #revisions = new Map<bigint, bigint>();
  /** The number of writes in the log that are not the newest of their pet. */
  #outdated = 0;

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
    const revision = this.#pets.replaceNow(id, changed);
    this.#revisions.set(id, revision);
    this.#outdated += 1;
    if (this.#outdated > this.#pets.log.length / 2) {
      this.#pets.log = this.#pets.log.filter(this.#isNewest);
      this.#outdated = 0;
    }
    return revision;
  }

  async list({ after = 0n, limit }: ChangesQuery): Promise<ChangesPage> {
    const { log, lastId: lastNumber } = this.#pets;
    const versions: ListedVersion[] = [];
    let upTo = after;
    let index = countUpTo(log, after, numberOf);
    const end = Math.min(log.length, index + EXAMINED_LIMIT);
    for (; index < end && versions.length < limit; index += 1) {
      const write = log[index] as LoggedWrite;
      const id = idOf(write);
      upTo = numberOf(write);
      if (this.#isNewest(write)) versions.push({ id, pet: this.#pets.findNow(id), revision: upTo });
    }
    this.#epoch ??= newEpoch();
    // The last write of the log is the newest of its pet.
    return { versions, upTo, more: index < log.length, epoch: this.#epoch, lastNumber };
  }

  async beginEpoch(): Promise<void> {
    this.#epoch = newEpoch();
  }

  readonly #isNewest = (write: LoggedWrite): boolean =>
    (this.#revisions.get(idOf(write)) ?? idOf(write)) === numberOf(write);
}

function idOf(write: LoggedWrite): bigint {
  return typeof write === 'bigint' ? write : write.id;
}

function numberOf(write: LoggedWrite): bigint {
  return typeof write === 'bigint' ? write : write.revision;
}

function newEpoch(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(8));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
