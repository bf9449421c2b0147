import {
  type CreateAttempt,
  type CreateResult,
  DAY,
  daysOf,
  type IdempotentCreates,
  RECORDS_PER_CALLER,
  tooManyRecords,
} from '../../application/ports/idempotent-creates.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

interface IdempotencyRecord {
  readonly caller: string;
  readonly pet: Pet;
  readonly at: number;
}

/** Stores the records in a map, in the order of their creation. */
export class MemoryIdempotentCreates implements IdempotentCreates {
  readonly #pets: MemoryPetRepository;
  readonly #closed: AbortSignal;
  readonly #perDay: number;
  readonly #records = new Map<string, IdempotencyRecord>();
  /** The names of the records of each caller, in the order of their creation. */
  readonly #namesOf = new Map<string, Set<string>>();
  /** When each promised number of days ends. */
  readonly #promises = new Map<number, number>();
  /** No record is from after this time. */
  #newestAt = 0;

  /** @param perDay the maximum number of records of one caller for each day that records are valid */
  constructor(pets: MemoryPetRepository, closed: AbortSignal, perDay: number = RECORDS_PER_CALLER) {
    this.#pets = pets;
    this.#closed = closed;
    this.#perDay = perDay;
  }

  async add(pet: NewPet, attempt: CreateAttempt): Promise<CreateResult> {
    const { caller, key, at, validFrom } = attempt;
    this.#closed.throwIfAborted();
    // A key contains no space, so different pairs of key and caller have different names.
    const name = `${key} ${caller}`;
    const record = this.#records.get(name);
    if (record !== undefined && record.at >= validFrom) return { pet: record.pet, isReplay: true };
    if (record !== undefined) this.#remove(name, record);
    const names = this.#namesOf.get(caller) ?? new Set();
    if (names.size >= this.#perDay * daysOf(attempt)) {
      const [oldest = ''] = names;
      throw tooManyRecords(this.#perDay, attempt, this.#records.get(oldest)?.at ?? Infinity);
    }
    const added = this.#pets.addNow(pet);
    this.#records.set(name, { caller, pet: added, at });
    this.#newestAt = Math.max(this.#newestAt, at);
    this.#namesOf.set(caller, names.add(name));
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
      this.#remove(name, record);
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

  #remove(name: string, { caller }: IdempotencyRecord): void {
    this.#records.delete(name);
    const names = this.#namesOf.get(caller);
    names?.delete(name);
    if (names?.size === 0) this.#namesOf.delete(caller);
  }
}
