import type {
  CreateAttempt,
  CreateResult,
  IdempotencyRecords,
  IdempotentCreates,
} from '../../application/ports/idempotent-creates.ts';
import type { NewPet } from '../../domain/pet.ts';
import { petRemoved } from '../storage-kit/exactly-once.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

interface IdempotencyRecord {
  readonly petId: bigint;
  readonly validUntil: number;
}

/** Stores the records in a map. */
export class MemoryIdempotentCreates implements IdempotentCreates, IdempotencyRecords {
  readonly #pets: MemoryPetRepository;
  readonly #closed: AbortSignal;
  readonly #records = new Map<string, IdempotencyRecord>();

  constructor(pets: MemoryPetRepository, closed: AbortSignal) {
    this.#pets = pets;
    this.#closed = closed;
  }

  async add(pet: NewPet, { caller, key, validFor }: CreateAttempt): Promise<CreateResult> {
    this.#closed.throwIfAborted();
    // A key contains no space, so different pairs of key and caller have different names.
    const name = `${key} ${caller}`;
    const record = this.#records.get(name);
    if (record !== undefined && record.validUntil >= Date.now()) {
      const replayed = await this.#pets.find(record.petId);
      if (replayed === undefined) throw petRemoved(record.petId);
      return { pet: replayed, isReplay: true };
    }
    const added = this.#pets.addNow(pet);
    this.#records.delete(name);
    this.#records.set(name, { petId: added.id, validUntil: Date.now() + validFor });
    return { pet: added, isReplay: false };
  }

  async count(): Promise<number> {
    this.#closed.throwIfAborted();
    return this.#records.size;
  }

  async removeRecords(limit: number): Promise<number> {
    this.#closed.throwIfAborted();
    const now = Date.now();
    let removed = 0;
    // Old records come first, so that most steps of a removal look at few others.
    for (const [name, { validUntil }] of this.#records) {
      if (removed === limit) break;
      if (validUntil < now && this.#records.delete(name)) removed += 1;
    }
    return removed;
  }
}
