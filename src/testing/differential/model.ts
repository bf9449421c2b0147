/** A plain model of a store. After the same calls, a storage must contain the same data as this model. Only storages assign ids. */

import { CREATE_REQUEST, type WriteRecord } from '../../application/ports/idempotent-changes.ts';
import type { CreateAttempt } from '../../application/ports/idempotent-creates.ts';
import type { PetVersion } from '../../application/ports/pet-changes.ts';
import type { PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import { type ApiKey, isActive } from '../../domain/api-key.ts';
import type { Pet } from '../../domain/pet.ts';
import { matches } from '../../domain/pet-filter.ts';

interface ModelRecord extends WriteRecord {
  readonly validUntil: number;
}

export class Model {
  /** The pets in ascending order of id. */
  readonly pets: Pet[] = [];
  /** The newest version of each pet that ever existed, by id. */
  readonly versions: Map<bigint, PetVersion> = new Map();
  readonly records: Map<string, ModelRecord> = new Map();
  /** The number of milliseconds by which the clock of the storage was moved. */
  clock = 0;
  /** Maps each API key to its attributes. The keys are in order of creation. */
  readonly keys: Map<string, ApiKey> = new Map();

  /** The greatest id or revision that was assigned, or 0n. */
  lastId = 0n;

  /** Adds pets with ascending ids, all of them greater than `lastId`. */
  add(...pets: readonly Pet[]): void {
    this.pets.push(...pets);
    for (const pet of pets) this.versions.set(pet.id, { pet, revision: pet.id });
    this.lastId = pets.at(-1)?.id ?? this.lastId;
  }

  /** Changes a pet that exists, or removes it. */
  change(id: bigint, pet: Pet | undefined, revision: bigint): void {
    const index = this.pets.findIndex((each) => each.id === id);
    this.pets.splice(index, 1, ...(pet ? [pet] : []));
    this.versions.set(id, { pet, revision });
    this.lastId = revision;
  }

  list({ limit, after = 0n, ...filter }: PetQuery): PetPage {
    const matching = this.pets.filter((pet) => pet.id > after && matches(pet, filter));
    return { pets: matching.slice(0, limit), more: matching.length > limit };
  }

  validRecord({ caller, key }: CreateAttempt): ModelRecord | undefined {
    const record = this.records.get(JSON.stringify([caller, key]));
    return record !== undefined && record.validUntil >= this.clock ? record : undefined;
  }

  record(pet: Pet | undefined, attempt: CreateAttempt & { readonly request?: string }): void {
    const { caller, key, validFor, request = CREATE_REQUEST } = attempt;
    this.records.set(JSON.stringify([caller, key]), { validUntil: this.clock + validFor, request, pet });
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

  /** Whether the key that a caller has read as `old` can still be replaced at the time `now`. */
  canReplace(old: ApiKey, now: number): boolean {
    const about = this.keyWithId(old.id)?.[1];
    return about !== undefined && isActive(about, now) && about.expiresAt === old.expiresAt;
  }
}
