import {
  type AttemptState,
  type ChangeAttempt,
  CREATE_REQUEST,
  type IdempotentChanges,
  type WriteRecord,
} from '../../application/ports/idempotent-changes.ts';
import type {
  CreateAttempt,
  CreateResult,
  IdempotencyRecords,
  IdempotentCreates,
} from '../../application/ports/idempotent-creates.ts';
import { keyConflict } from '../../domain/idempotency-key.ts';
import { type NewPet, type Pet, storedPet } from '../../domain/pet.ts';
import type { MemoryPetChanges } from './pet-changes.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

interface StoredRecord extends WriteRecord {
  readonly validUntil: number;
}

/** Stores each write and its record in one step. */
export class MemoryIdempotentWrites implements IdempotentCreates, IdempotentChanges, IdempotencyRecords {
  readonly #pets: MemoryPetRepository;
  readonly #changes: MemoryPetChanges;
  readonly #closed: AbortSignal;
  readonly #records = new Map<string, StoredRecord>();

  constructor(pets: MemoryPetRepository, changes: MemoryPetChanges, closed: AbortSignal) {
    this.#pets = pets;
    this.#changes = changes;
    this.#closed = closed;
  }

  async add(pet: NewPet, attempt: CreateAttempt): Promise<CreateResult> {
    const record = this.#validRecord(attempt);
    if (record === undefined) {
      const added = this.#pets.addNow(pet);
      this.#set({ ...attempt, request: CREATE_REQUEST }, added);
      return { pet: added, isReplay: false };
    }
    if (record.request !== CREATE_REQUEST || record.pet === undefined) throw keyConflict('request');
    return { pet: record.pet, isReplay: true };
  }

  async find(id: bigint, attempt: ChangeAttempt): Promise<AttemptState> {
    return { version: this.#changes.findNow(id), record: this.#validRecord(attempt) };
  }

  async replace(pet: Pet, expected: bigint, attempt: ChangeAttempt): Promise<bigint | undefined> {
    return this.#write(pet.id, storedPet(pet.id, pet), expected, attempt);
  }

  async remove(id: bigint, expected: bigint, attempt: ChangeAttempt): Promise<bigint | undefined> {
    return this.#write(id, undefined, expected, attempt);
  }

  async record(_id: bigint, pet: Pet | undefined, attempt: ChangeAttempt): Promise<boolean> {
    if (this.#validRecord(attempt) !== undefined) return false;
    this.#set(attempt, pet);
    return true;
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

  #write(id: bigint, pet: Pet | undefined, expected: bigint, attempt: ChangeAttempt): bigint | undefined {
    if (this.#validRecord(attempt) !== undefined) return undefined;
    const revision = this.#changes.writeNow(id, pet, expected);
    if (revision !== undefined) this.#set(attempt, pet);
    return revision;
  }

  #validRecord({ caller, key }: CreateAttempt): WriteRecord | undefined {
    this.#closed.throwIfAborted();
    const record = this.#records.get(nameOf(caller, key));
    return record !== undefined && record.validUntil >= Date.now() ? record : undefined;
  }

  #set({ caller, key, request, validFor }: ChangeAttempt, pet: Pet | undefined): void {
    const name = nameOf(caller, key);
    this.#records.delete(name);
    this.#records.set(name, { request, pet, validUntil: Date.now() + validFor });
  }
}

/** A key contains no space, so different pairs of key and caller have different names. */
function nameOf(caller: string, key: string): string {
  return `${key} ${caller}`;
}
