import type { Pet } from '../domain/pet.ts';
import { changePet, type PetChange, petChange } from '../domain/pet-change.ts';
import { petChangeJson } from '../domain/pet-json.ts';
import { entityTagOf, type IfMatch, type TaggedPet } from './entity-tag.ts';
import type { Caller } from './ports/idempotent-creates.ts';
import type { CallOptions } from './ports/pet-repository.ts';
import { type ChangePorts, expectedPet, writeVersion } from './versioned-writes.ts';

/** The result of a change. */
export interface ChangeResult extends TaggedPet {
  /** Whether an earlier request with the same idempotency key made the change. If so, `pet` is the pet in the first response. */
  readonly isReplay: boolean;
}

/**
 * The use case of `PATCH /pets/{petId}`: changes attributes of a pet if `ifMatch` allows its current version. The other attributes
 * stay as other writers have stored them.
 */
export class ChangePet {
  readonly #ports: ChangePorts;

  constructor(ports: ChangePorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when the change is durable. Otherwise rejects with the first of these errors that applies: `invalid_request` when the
   * change itself breaks a rule, `idempotency_conflict`, `not_found`, `precondition_failed` when the pet has none of the entity
   * tags, or `invalid_transition`.
   */
  async execute(
    id: bigint,
    input: PetChange,
    ifMatch: IfMatch,
    caller?: Caller,
    options?: CallOptions,
  ): Promise<ChangeResult> {
    const change = petChange(input);
    const request = `change ${id} ${petChangeJson(change)}`;
    const nextOf = async (pet?: Pet) => changePet(await expectedPet(id, pet, ifMatch), change);
    const written = await writeVersion(this.#ports, id, request, nextOf, caller, options);
    const pet = written.pet as Pet;
    return { pet, etag: await entityTagOf(pet), isReplay: written.isReplay };
  }
}
