import {
  type CreateAttempt,
  type CreateResult,
  DAY,
  type IdempotentCreates,
} from '../../application/ports/idempotent-creates.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

interface IdempotencyRecord {
  readonly pet: Pet;
  readonly at: number;
}

/** Stores the records in a map, in the order of their creation. */
export class MemoryIdempotentCreates implements IdempotentCreates {
  readonly #pets: MemoryPetRepository;
  readonly #closed: AbortSignal;
  readonly #records = new Map<string, IdempotencyRecord>();
  /** When each promised number of days ends. */
  readonly #promises = new Map<number, number>();
  /** No record is from after this time. */
  #newestAt = 0;

  constructor(pets: MemoryPetRepository, closed: AbortSignal) {
    this.#pets = pets;
    this.#closed = closed;
  }

  async add(pet: NewPet, { caller, key, at, validFrom }: CreateAttempt): Promise<CreateResult> {
    this.#closed.throwIfAborted();
    // A key contains no space, so different pairs of key and caller have different names.
    const name = `${key} ${caller}`;
    const record = this.#records.get(name);
    if (record !== undefined && record.at >= validFrom) return { pet: record.pet, isReplay: true };
    const added = this.#pets.addNow(pet);
    // The new record is the last one of the map.
    this.#records.delete(name);
    this.#records.set(name, { pet: added, at });
    this.#newestAt = Math.max(this.#newestAt, at);
    return { pet: added, isReplay: false };
  }

  async promiseDays(days: number, now: number): Promise<number> {
    this.#closed.throwIfAborted();
    this.#promises.set(days, now + days * DAY);
    return Math.max(...[...this.#promises].flatMap(([each, end]) => (end >= now ? each : [])));
  }

  async count(): Promise<number> {
    this.#closed.throwIfAborted();
    return this.#records.size;
  }

  async removeRecords(createdBefore: number, limit: number): Promise<number> {
    this.#closed.throwIfAborted();
    let removed = 0;
    for (const [name, record] of this.#records) {
      if (removed >= limit || record.at >= createdBefore) break;
      this.#records.delete(name);
      removed += 1;
    }
    return removed;
  }

  async redateRecords(now: number, limit: number): Promise<number> {
    this.#closed.throwIfAborted();
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
}
