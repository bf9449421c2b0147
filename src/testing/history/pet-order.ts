/** Examines whether creates and reads fit the order of the ids. */

import type { NewPet } from '../../domain/pet.ts';
import { matches, type PetFilter, readFilter } from '../../domain/pet-filter.ts';
import { type CreateEvent, described, type ListEvent, type PetEvent } from './events.ts';
import { Contradiction, type StoredPet, storedPets } from './stored-pets.ts';

/** The times between which a pet became visible, and the events that show them. */
interface Bounds {
  readonly id: bigint;
  /** The pet was not yet visible when this call began. */
  notBefore: { readonly at: number; readonly event: PetEvent };
  /** The pet was visible when this call returned. */
  notAfter: { readonly at: number; readonly event: PetEvent } | undefined;
}

/**
 * Returns a description of a contradiction, or `undefined` when one order explains all events. The ids give the order of the pets,
 * so no search for an order is needed. The events fit this order under two conditions. First, a list that contains a pet also
 * contains each pet with a smaller id that the query of the list selects. Second, once a pet was visible, it and all pets with
 * smaller ids stayed visible. The running time grows almost linearly with the number of events and of pets in them.
 */
export function petContradiction(events: readonly PetEvent[]): string | undefined {
  try {
    checkOrder(events);
    return undefined;
  } catch (error) {
    if (error instanceof Contradiction) return error.message;
    throw error;
  }
}

function checkOrder(events: readonly PetEvent[]): void {
  const stored = storedPets(events);
  const ids = [...stored.keys()].sort((a, b) => (a < b ? -1 : 1));
  const bounds = new Map(ids.map((id) => [id, boundsOf(id, stored.get(id) as StoredPet)]));
  const idsOf = matchingIds(ids, stored);
  // The pets that may be stored, because the outcome of their create is unknown.
  const lost = events.flatMap((event) =>
    event.kind === 'create' && event.result === 'unknown' ? event.pet : [],
  );
  for (const event of events) {
    if (event.kind === 'get') {
      if (event.result === undefined) missed(bounds, event.id, event);
      else saw(bounds, event.id, event);
      if (event.result !== undefined && event.result.id !== event.id)
        throw new Contradiction(`${described(event)} returned pet ${event.result.id}`);
    } else if (event.kind === 'list') checkList(event, idsOf, bounds, lost);
  }
  compare([...bounds.values()]);
}

function boundsOf(id: bigint, { attempts }: StoredPet): Bounds {
  const [first] = attempts.toSorted((a, b) => a.call - b.call) as [CreateEvent];
  const returned = attempts.filter(({ result }) => typeof result !== 'string');
  const [known] = returned.toSorted((a, b) => a.end - b.end);
  return {
    id,
    notBefore: { at: first.call, event: first },
    notAfter: known && { at: known.end, event: known },
  };
}

/**
 * Checks a list. Updates the bounds of two pets only, the last one in the list and the next one that matches, because pets become
 * visible in the order of their ids.
 */
function checkList(
  event: ListEvent,
  idsOf: ReturnType<typeof matchingIds>,
  bounds: ReadonlyMap<bigint, Bounds>,
  lost: readonly NewPet[],
): void {
  const { query, result } = event;
  const { pets, more } = result;
  const { filter } = readFilter(query);
  const expected = idsOf(filter);
  const start = firstAfter(expected, query.after === undefined ? undefined : BigInt(query.after));
  if (pets.length > query.limit) throw new Contradiction(`${described(event)} returned ${pets.length} pets`);
  for (const [index, pet] of pets.entries()) {
    const { id } = pet;
    const next = expected[start + index];
    if (next === id) continue;
    if (!matches(pet, filter))
      throw new Contradiction(`${described(event)} returned pet ${id}, which does not match`);
    throw new Contradiction(
      next === undefined || id < next
        ? `${described(event)} returned pet ${id} out of order`
        : `${described(event)} saw pet ${id} and missed pet ${next}`,
    );
  }
  const last = pets.at(-1);
  if (last !== undefined) saw(bounds, last.id, event);
  const next = expected[start + pets.length];
  if (more && pets.length < query.limit)
    throw new Contradiction(`${described(event)} returned ${pets.length} pets, and said that there are more`);
  const notBefore = next === undefined ? undefined : bounds.get(next)?.notBefore;
  const isTooLate = notBefore?.event.kind === 'create' && notBefore.at > event.end;
  if (!more) missed(bounds, next, event);
  else if (next !== undefined && !isTooLate) saw(bounds, next, event);
  else if (!lost.some((pet) => matches(pet, filter)))
    throw new Contradiction(`${described(event)} said that there are more pets, and there were none`);
}

function missed(bounds: ReadonlyMap<bigint, Bounds>, id: bigint | undefined, event: PetEvent): void {
  const pet = id === undefined ? undefined : bounds.get(id);
  if (pet !== undefined && event.call > pet.notBefore.at) pet.notBefore = { at: event.call, event };
}

function saw(bounds: ReadonlyMap<bigint, Bounds>, id: bigint, event: PetEvent): void {
  const pet = bounds.get(id);
  if (pet !== undefined && event.end < (pet.notAfter?.at ?? Infinity))
    pet.notAfter = { at: event.end, event };
}

/** @param bounds in ascending order of id */
function compare(bounds: readonly Bounds[]): void {
  let latest: Bounds | undefined;
  for (const pet of bounds) {
    if (latest === undefined || pet.notBefore.at > latest.notBefore.at) latest = pet;
    if (pet.notAfter === undefined || latest.notBefore.at < pet.notAfter.at) continue;
    const { notBefore } = latest;
    const { event } = pet.notAfter;
    const early = described(event);
    const isPromise = event.kind === 'list' && !event.result.pets.some(({ id }) => id === pet.id);
    const verb = event.kind === 'create' ? 'stored' : isPromise ? 'promised' : 'saw';
    const late = described(notBefore.event);
    const did = notBefore.event.kind === 'create' ? 'got id' : 'missed pet';
    throw new Contradiction(`${late} ${did} ${latest.id}, but began after ${early} ${verb} pet ${pet.id}`);
  }
}

/** Returns a function that returns the ids of the pets that match a filter, in ascending order. */
function matchingIds(
  ids: readonly bigint[],
  stored: ReadonlyMap<bigint, StoredPet>,
): (filter: PetFilter) => readonly bigint[] {
  const known = new Map<string, readonly bigint[]>();
  return (filter) => {
    const name = Object.entries(filter).join();
    const found = known.get(name) ?? ids.filter((id) => matches((stored.get(id) as StoredPet).pet, filter));
    known.set(name, found);
    return found;
  };
}

/** Returns the index of the first id above `after`. */
function firstAfter(ids: readonly bigint[], after: bigint | undefined): number {
  if (after === undefined) return 0;
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((ids[middle] as bigint) > after) high = middle;
    else low = middle + 1;
  }
  return low;
}
