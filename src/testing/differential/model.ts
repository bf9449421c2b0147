/** A store in plain JavaScript: what a storage returns and holds after the same calls. It does not assign ids. */

import type { CreateAttempt } from '../../application/ports/idempotent-creates.ts';
import type { PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import { type ApiKey, isActive } from '../../domain/api-key.ts';
import type { Pet } from '../../domain/pet.ts';

interface RecordOfCreate {
  readonly validUntil: number;
  readonly pet: Pet;
}

export class Model {
  /** In ascending order of id. */
  readonly pets: Pet[] = [];
  readonly records: Map<string, RecordOfCreate> = new Map();
  /** By how much the clock of the storage was moved, in milliseconds. */
  clock = 0;
  /** By key, in order of creation. */
  readonly keys: Map<string, ApiKey> = new Map();

  /** The greatest id that was assigned, or 0n. */
  lastId = 0n;

  /** Adds pets with ascending ids above all others. */
  add(...pets: readonly Pet[]): void {
    this.pets.push(...pets);
    this.lastId = this.pets.at(-1)?.id ?? 0n;
  }

  list({ limit, status, after = 0n }: PetQuery): PetPage {
    const matching = this.pets.filter(
      (pet) => pet.id > after && (status === undefined || pet.status === status),
    );
    return { pets: matching.slice(0, limit), more: matching.length > limit };
  }

  /** Returns the pet of a valid record. */
  replayed({ caller, key }: CreateAttempt): Pet | undefined {
    const record = this.records.get(JSON.stringify([caller, key]));
    return record !== undefined && record.validUntil >= this.clock ? record.pet : undefined;
  }

  addOnce(pet: Pet, { caller, key, validFor }: CreateAttempt): void {
    this.add(pet);
    this.records.set(JSON.stringify([caller, key]), { validUntil: this.clock + validFor, pet });
  }

  /** Removes all records that have ended, and returns their number. */
  removeRecords(): number {
    const ended = [...this.records].filter(([, { validUntil }]) => validUntil < this.clock);
    for (const [name] of ended) this.records.delete(name);
    return ended.length;
  }

  keyWithId(id: string): [key: string, about: ApiKey] | undefined {
    return [...this.keys].find(([, about]) => about.id === id);
  }

  /** Changes a key, and returns whether it exists. */
  changeKey(id: string, change: (about: ApiKey) => Partial<ApiKey>): boolean {
    const found = this.keyWithId(id);
    if (found === undefined) return false;
    const [key, about] = found;
    this.keys.set(key, { ...about, ...change(about) });
    return true;
  }

  /** Whether the key that a caller has listed as `old` can be replaced at the time `now`. */
  canReplace(old: ApiKey, now: number): boolean {
    const about = this.keyWithId(old.id)?.[1];
    return about !== undefined && isActive(about, now) && about.expiresAt === old.expiresAt;
  }
}
