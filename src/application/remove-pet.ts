import { expectedPet } from './change-pet.ts';
import type { IfMatch } from './entity-tag.ts';
import type { CallOptions } from './ports/pet-repository.ts';
import { retryLostRace } from './retry-lost-race.ts';
import { type Caller, type ChangePorts, replayOf, versionedWrites } from './versioned-writes.ts';

/** The use case of `DELETE /pets/{petId}`. */
export class RemovePet {
  readonly #ports: ChangePorts;

  constructor(ports: ChangePorts) {
    this.#ports = ports;
  }

  /**
   * Resolves when the removal is durable. The removal of a pet that was removed before succeeds, whatever the entity tags.
   * Rejects as `ChangePet.execute` does, with `not_found` only when there never was such a pet.
   */
  async execute(
    id: bigint,
    ifMatch: IfMatch,
    caller?: Caller,
    options?: CallOptions,
  ): Promise<{ readonly isReplay: boolean }> {
    const writes = versionedWrites(this.#ports, id, `remove ${id}`, caller, options);
    return await retryLostRace(async () => {
      const { record, version } = await writes.find();
      if (record !== undefined) {
        replayOf(record, writes);
        return { isReplay: true };
      }
      const isRemoved = version !== undefined && version.pet === undefined;
      if (!isRemoved) await expectedPet(version, ifMatch);
      const isStored = isRemoved
        ? await writes.recordOnly(undefined)
        : await writes.remove(version?.revision ?? 0n);
      return isStored ? { isReplay: false } : undefined;
    }, options?.signal);
  }
}
