/** Checks the versions of pets. Each write has a number, its revision, which gives the order of the writes. */

import type { PetVersion } from '../../application/ports/pet-changes.ts';
import { isSamePet, type NewPet, type Pet } from '../../domain/pet.ts';
import type { CallTime } from './events.ts';

/** A write: a create (without `expected`), a change, or a removal (without attributes). */
export interface VersionWrite extends CallTime {
  readonly id?: bigint | undefined;
  readonly expected?: bigint | undefined;
  readonly attributes: NewPet | undefined;
  /** The number of the write; `undefined` when its outcome is unknown. A refused write is not recorded. */
  readonly revision: bigint | undefined;
}

/** A read of one pet. */
export interface VersionRead extends CallTime {
  readonly id: bigint;
  readonly version: PetVersion | undefined;
}

interface Version {
  readonly id: bigint;
  readonly revision: bigint;
  readonly attributes: NewPet | undefined;
  readonly write?: VersionWrite | undefined;
}

/** Collects the writes and reads of all clients, and examines whether the order of the numbers explains the results. */
export class VersionHistory {
  readonly #writes: VersionWrite[] = [];
  readonly #reads: VersionRead[] = [];
  #position = 0;

  /** Returns the next position in the sequence of the starts and ends of all calls. */
  tick(): number {
    this.#position += 1;
    return this.#position;
  }

  addWrite(write: VersionWrite): void {
    this.#writes.push(write);
  }

  addRead(read: VersionRead): void {
    this.#reads.push(read);
  }

  /** @param feed all versions in the feed, read when no write was in flight */
  contradiction(feed: readonly (PetVersion & { readonly id: bigint })[]): string | undefined {
    try {
      const versions = this.#versions(feed);
      this.#assertCompared(versions);
      this.#assertRealTime();
      this.#assertReads(versions);
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** Returns the versions of each pet, in ascending order. Includes a write with an unknown outcome if its version was seen. */
  #versions(feed: readonly (PetVersion & { readonly id: bigint })[]): Map<bigint, Version[]> {
    const byRevision = new Map<bigint, Version>();
    const see = (version: Version): void => {
      const known = byRevision.get(version.revision);
      if (known !== undefined && (known.id !== version.id || !isEqual(known.attributes, version.attributes)))
        throw new Error(
          `number ${version.revision} is of two writes: of pet ${known.id} and pet ${version.id}`,
        );
      byRevision.set(version.revision, known ?? version);
    };
    for (const write of this.#writes) {
      const { revision, id = revision, attributes } = write;
      if (revision === undefined || id === undefined) continue;
      if (byRevision.has(revision)) throw new Error(`number ${revision} was assigned twice`);
      see({ id, revision, attributes, write });
    }
    const read = this.#reads.flatMap(({ id, version }) => (version ? [{ id, ...version }] : []));
    // Each write with an unknown outcome explains one version at most.
    const unknown = new Set(this.#writes.filter(({ revision }) => revision === undefined));
    for (const { id, revision, pet } of [...read, ...feed]) {
      const isNew = !byRevision.has(revision);
      const [write] = [...(isNew ? unknown : [])]
        .filter((each) => (each.id ?? id) === id && (each.expected ?? -1n) < revision)
        .filter(({ attributes }) => isEqual(attributes, pet))
        .sort((a, b) => Number((b.expected ?? -1n) - (a.expected ?? -1n)));
      if (isNew && write === undefined) throw new Error(`nobody wrote version ${revision} of pet ${id}`);
      if (write !== undefined) unknown.delete(write);
      see({ id, revision, attributes: pet, write });
    }
    const versions = new Map<bigint, Version[]>();
    for (const version of [...byRevision.values()].sort((a, b) => (a.revision < b.revision ? -1 : 1)))
      versions.set(version.id, [...(versions.get(version.id) ?? []), version]);
    for (const { id, revision } of feed) {
      const newest = versions.get(id)?.at(-1)?.revision;
      if (newest !== revision)
        throw new Error(`the feed has version ${revision} of pet ${id}, and not ${newest}`);
    }
    if (versions.size !== new Set(feed.map(({ id }) => id)).size) throw new Error('the feed lacks a pet');
    return versions;
  }

  /** Asserts that each change or removal directly follows the version of the pet that its writer had read. */
  #assertCompared(versions: Map<bigint, Version[]>): void {
    for (const [id, all] of versions) {
      for (const [index, { revision, write }] of all.entries()) {
        const before = all[index - 1]?.revision;
        if (write?.expected !== undefined && before !== undefined && before !== write.expected)
          throw new Error(
            `version ${revision} of pet ${id} replaced ${before}, its writer had read ${write.expected}`,
          );
      }
    }
  }

  /** Asserts that a write has a greater number than every write that had ended before it began. */
  #assertRealTime(): void {
    const greatestBefore = greatestNumbers(this.#writes);
    for (const { call, revision } of this.#writes.toSorted((a, b) => a.call - b.call)) {
      const greatest = greatestBefore(call);
      if (revision !== undefined && revision < greatest)
        throw new Error(`number ${revision} was assigned after ${greatest} was acknowledged`);
    }
  }

  /**
   * Asserts two rules for each read. First, the read misses nothing that was visible when it began. Let G be the greatest revision
   * that any write, or any read of any pet, had returned by then. The read returns the newest version of its pet with a revision up
   * to G, or a newer version. Second, the write of the returned version began before the read ended.
   */
  #assertReads(versions: Map<bigint, Version[]>): void {
    const read = this.#reads.map(({ end, version }) => ({ end, revision: version?.revision }));
    const greatestBefore = greatestNumbers([...this.#writes, ...read]);
    for (const { call, end, id, version } of this.#reads.toSorted((a, b) => a.call - b.call)) {
      const greatest = greatestBefore(call);
      const all = versions.get(id) ?? [];
      const least = all.findLast(({ revision }) => revision <= greatest)?.revision ?? 0n;
      const found = version?.revision ?? 0n;
      if (found < least)
        throw new Error(`a read of pet ${id} returned version ${found}, after ${least} was visible`);
      const begun = all.find(({ revision }) => revision === found)?.write?.call ?? 0;
      if (begun > end) throw new Error(`a read of pet ${id} returned version ${found} before it was written`);
    }
  }
}

/**
 * Returns a function that takes a position in the history, and returns the greatest revision of a call that had ended before this
 * position. Call the returned function with positions in ascending order.
 */
function greatestNumbers(
  known: readonly { readonly end: number; readonly revision: bigint | undefined }[],
): (call: number) => bigint {
  const ended = known.toSorted((a, b) => a.end - b.end);
  let [next, greatest] = [0, 0n];
  return (call) => {
    for (; (ended[next]?.end ?? Infinity) < call; next += 1) {
      const number = ended[next]?.revision ?? 0n;
      if (number > greatest) greatest = number;
    }
    return greatest;
  };
}

function isEqual(one: NewPet | undefined, other: NewPet | Pet | undefined): boolean {
  return one === undefined || other === undefined ? one === other : isSamePet(one, other);
}
