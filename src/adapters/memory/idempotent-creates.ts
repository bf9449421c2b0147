import {
  type ChangeAttempt,
  CREATE_REQUEST,
  type WriteRecord,
} from '../../application/ports/idempotent-changes.ts';
import type {
  CreateAttempt,
  CreateResult,
  IdempotencyRecords,
  IdempotentCreates,
} from '../../application/ports/idempotent-creates.ts';
import { keyConflict } from '../../domain/idempotency-key.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

interface StoredRecord extends WriteRecord {
  readonly validUntil: number;
}

/** Stores the records in a map. */
export class MemoryIdempotentCreates implements IdempotentCreates, IdempotencyRecords {
  readonly #pets: MemoryPetRepository;
  readonly #closed: AbortSignal;
  readonly #records = new Map<string, StoredRecord>();

  constructor(pets: MemoryPetRepository, closed: AbortSignal) {
    this.#pets = pets;
    this.#closed = closed;
  }

  async add(pet: NewPet, attempt: CreateAttempt): Promise<CreateResult> {
    this.#closed.throwIfAborted();
    const record = this.find(attempt);
    if (record === undefined) {
      const added = this.#pets.addNow(pet);
      this.set({ ...attempt, request: CREATE_REQUEST }, added);
      return { pet: added, isReplay: false };
    }
    if (record.request !== CREATE_REQUEST || record.pet === undefined) throw keyConflict('request');
    return { pet: record.pet, isReplay: true };
  }

  /** Returns the valid record of an attempt. */
  find({ caller, key }: CreateAttempt): WriteRecord | undefined {
    const record = this.#records.get(nameOf(caller, key));
    return record !== undefined && record.validUntil >= Date.now() ? record : undefined;
  }

  set({ caller, key, request, validFor }: ChangeAttempt, pet: Pet | undefined): void {
    const name = nameOf(caller, key);
    this.#records.delete(name);
    this.#records.set(name, { request, pet, validUntil: Date.now() + validFor });
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

/** A key contains no space, so different pairs of key and caller have different names. */
function nameOf(caller: string, key: string): string {
  return `${key} ${caller}`;
}
