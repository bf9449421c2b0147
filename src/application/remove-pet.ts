import type { Pet } from '../domain/pet.ts';
import type { IfMatch } from './entity-tag.ts';
import type { Caller } from './ports/idempotent-creates.ts';
import type { CallOptions } from './ports/pet-repository.ts';
import { type ChangePorts, expectedPet, writeVersion } from './versioned-writes.ts';

/** The use case of `DELETE /pets/{petId}`. */
export class RemovePet {
  readonly #ports: ChangePorts;

  constructor(ports: ChangePorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when the removal is durable. If the pet was already removed, ignores the entity tags and resolves. Rejects as
   * `ChangePet.execute` does.
   */
  async execute(
    id: bigint,
    ifMatch: IfMatch,
    caller?: Caller,
    options?: CallOptions,
  ): Promise<{ readonly isReplay: boolean }> {
    const nextOf = async (pet?: Pet) => {
      if (pet !== undefined) await expectedPet(id, pet, ifMatch);
      return undefined;
    };
    return await writeVersion(this.#ports, id, `remove ${id}`, nextOf, caller, options);
  }
}
