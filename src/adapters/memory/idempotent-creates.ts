import type { CreateAttempt, CreateResult } from '../../application/ports/create-attempt.ts';
import {
  type IdempotentCreates,
  RECORDS_PER_CALLER,
  tooManyRecords,
} from '../../application/ports/idempotent-creates.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { OpenState } from './open-state.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

interface IdempotencyRecord {
  readonly caller: string;
  readonly pet: Pet;
  readonly at: number;
}

/** Stores the records in a map, in the order of their creation. */
export class MemoryIdempotentCreates implements IdempotentCreates {
  readonly #pets: MemoryPetRepository;
  readonly #state: OpenState;
  readonly #limit: number;
  readonly #records = new Map<string, IdempotencyRecord>();
  readonly #countOf = new Map<string, number>();
  /** No record is from after this time. */
  #newestAt = 0;

  /** @param limit the maximum number of records of one caller */
  constructor(pets: MemoryPetRepository, state: OpenState, limit: number = RECORDS_PER_CALLER) {
    this.#pets = pets;
    this.#state = state;
    this.#limit = limit;
  }

  async add(pet: NewPet, { caller, key, at, validFrom }: CreateAttempt): Promise<CreateResult> {
    this.#state.assertOpen();
    // A key contains no space, so different pairs of key and caller have different names.
    const name = `${key} ${caller}`;
    const record = this.#records.get(name);
    if (record !== undefined && record.at >= validFrom) return { pet: record.pet, isReplay: true };
    if (record !== undefined) this.#remove(name, record);
    const count = this.#countOf.get(caller) ?? 0;
    if (count >= this.#limit) throw tooManyRecords(this.#limit);
    const added = this.#pets.addNow(pet);
    this.#records.set(name, { caller, pet: added, at });
    this.#newestAt = Math.max(this.#newestAt, at);
    this.#countOf.set(caller, count + 1);
    return { pet: added, isReplay: false };
  }

  async count(): Promise<number> {
    this.#state.assertOpen();
    return this.#records.size;
  }

  async removeRecords(createdBefore: number, limit: number): Promise<number> {
    this.#state.assertOpen();
    let removed = 0;
    for (const [name, record] of this.#records) {
      if (removed >= limit || record.at >= createdBefore) break;
      this.#remove(name, record);
      removed += 1;
    }
    return removed;
  }

  async redateRecords(now: number, limit: number): Promise<number> {
    this.#state.assertOpen();
    if (this.#newestAt <= now) return 0;
    let redated = 0;
    for (const [name, record] of this.#records) {
      if (redated >= limit) return redated;
      if (record.at > now) {
        this.#records.set(name, { ...record, at: now });
        redated += 1;
      }
    }
    this.#newestAt = now;
    return redated;
  }

  #remove(name: string, { caller }: IdempotencyRecord): void {
    this.#records.delete(name);
    const left = (this.#countOf.get(caller) ?? 0) - 1;
    if (left > 0) this.#countOf.set(caller, left);
    else this.#countOf.delete(caller);
  }
}
