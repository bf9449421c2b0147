import { AnimalStoreError } from '../domain/errors.ts';
import type { Pet } from '../domain/pet.ts';
import { changePet, type PetChange, petChange } from '../domain/pet-change.ts';
import { petChangeJson } from '../domain/pet-json.ts';
import { type IfMatch, matches } from './entity-tag.ts';
import type { PetVersion } from './ports/pet-changes.ts';
import type { CallOptions } from './ports/pet-repository.ts';
import { retryLostRace } from './retry-lost-race.ts';
import { type Caller, type ChangePorts, replayOf, versionedWrites } from './versioned-writes.ts';

/** The result of a change. */
export interface ChangeResult {
  readonly pet: Pet;
  /** Whether an earlier request with the same idempotency key has made the change: then the pet is its response. */
  readonly isReplay: boolean;
}

/** The use case of `PATCH /pets/{petId}`: changes attributes of a pet, and loses no change of anybody else. */
export class ChangePet {
  readonly #ports: ChangePorts;

  constructor(ports: ChangePorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when the change is durable. A change that changes nothing takes no number. Rejects with `invalid_request` when the
   * change breaks a rule by itself, with `idempotency_conflict` when the key was used for another request, with `not_found`, with
   * `precondition_failed` when the pet has none of the entity tags, and with `invalid_transition`, in this order.
   *
   * @param caller without it, a repeated request is another request
   */
  async execute(
    id: bigint,
    input: PetChange,
    ifMatch: IfMatch,
    caller?: Caller,
    options?: CallOptions,
  ): Promise<ChangeResult> {
    const change = petChange(input);
    const writes = versionedWrites(this.#ports, id, `change ${id} ${petChangeJson(change)}`, caller, options);
    return await retryLostRace(async () => {
      const { record, version } = await writes.find();
      if (record !== undefined) return { pet: replayOf(record, writes) as Pet, isReplay: true };
      const pet = await expectedPet(version, ifMatch);
      const changed = changePet(pet, change);
      const isStored =
        changed === pet
          ? await writes.recordOnly(pet)
          : await writes.replace(changed, version?.revision ?? 0n);
      return isStored ? { pet: changed, isReplay: false } : undefined;
    }, options?.signal);
  }
}

/** Returns the pet of a version that exists and has one of the entity tags. */
export async function expectedPet(version: PetVersion | undefined, ifMatch: IfMatch): Promise<Pet> {
  const pet = version?.pet;
  if (pet === undefined) throw new AnimalStoreError('not_found', 'there is no such pet');
  if (await matches(ifMatch, pet)) return pet;
  throw new AnimalStoreError(
    'precondition_failed',
    'the pet has changed since it was read: read it again, then decide',
  );
}
