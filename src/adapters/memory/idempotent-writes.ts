/** Exactly-once writes in memory: each write and its record are stored in one step. */

import {
  type ChangeAttempt,
  CREATE_REQUEST,
  type IdempotentChanges,
  type WriteRecord,
} from '../../application/ports/idempotent-changes.ts';
import type {
  CreateAttempt,
  IdempotencyRecords,
  IdempotentCreates,
} from '../../application/ports/idempotent-creates.ts';
import { keyConflict } from '../../domain/idempotency-key.ts';
import { type Pet, storedPet } from '../../domain/pet.ts';
import type { MemoryPetChanges } from './pet-changes.ts';
import type { MemoryPetRepository } from './pet-repository.ts';

export function memoryIdempotentWrites(
  pets: MemoryPetRepository,
  changes: MemoryPetChanges,
  closed: AbortSignal,
): IdempotentCreates & IdempotentChanges & IdempotencyRecords {
  const records = new Map<string, WriteRecord & { readonly validUntil: number }>();

  function validRecord(attempt: CreateAttempt): WriteRecord | undefined {
    closed.throwIfAborted();
    const record = records.get(nameOf(attempt));
    return record !== undefined && record.validUntil >= Date.now() ? record : undefined;
  }

  /** Adds the record at the end of the map, so that the oldest records come first. */
  function setRecord(attempt: ChangeAttempt, pet: Pet | undefined): void {
    const { request, validFor } = attempt;
    records.delete(nameOf(attempt));
    records.set(nameOf(attempt), { request, pet, validUntil: Date.now() + validFor });
  }

  function write(id: bigint, pet: Pet | undefined, expected: bigint, attempt: ChangeAttempt) {
    if (validRecord(attempt) !== undefined) return undefined;
    const revision = changes.writeNow(id, pet, expected);
    if (revision !== undefined) setRecord(attempt, pet);
    return revision;
  }

  return {
    async add(pet, attempt) {
      const record = validRecord(attempt);
      if (record === undefined) {
        const added = pets.addNow(pet);
        setRecord({ ...attempt, request: CREATE_REQUEST }, added);
        return { pet: added, isReplay: false };
      }
      if (record.request !== CREATE_REQUEST || record.pet === undefined) throw keyConflict('request');
      return { pet: record.pet, isReplay: true };
    },
    find: async (id, attempt) => ({ version: changes.findNow(id), record: validRecord(attempt) }),
    replace: async (pet, expected, attempt) => write(pet.id, storedPet(pet.id, pet), expected, attempt),
    remove: async (id, expected, attempt) => write(id, undefined, expected, attempt),
    async record(id, pet, attempt) {
      if (validRecord(attempt) !== undefined) return false;
      setRecord(attempt, pet && storedPet(id, pet));
      return true;
    },
    async count() {
      closed.throwIfAborted();
      return records.size;
    },
    async removeRecords(limit) {
      closed.throwIfAborted();
      const now = Date.now();
      let removed = 0;
      for (const [name, { validUntil }] of records) {
        if (removed === limit) break;
        if (validUntil < now && records.delete(name)) removed += 1;
      }
      return removed;
    },
  };
}

/** An idempotency key contains no space, so different pairs of key and caller have different names. */
function nameOf({ caller, key }: CreateAttempt): string {
  return `${key} ${caller}`;
}
