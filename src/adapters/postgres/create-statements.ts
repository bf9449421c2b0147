/** The statements that store pets, each for a group of creates. */

import type { CreateAttempt } from '../../application/ports/idempotent-creates.ts';
import type { NewPet } from '../../domain/pet.ts';
import type { Statement } from './connections.ts';
import type { Row } from './session.ts';
import type { Call } from './waiting-calls.ts';

const ADD = 'INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id';

/** The returned ids, in ascending order, belong to the pets in their order. */
const ADD_ALL = `INSERT INTO pets (name, category_id, status)
  SELECT name, category_id, status FROM unnest($1::text[], $2::bigint[], $3::text[])
    WITH ORDINALITY AS new (name, category_id, status, place) ORDER BY place
  RETURNING id`;

/**
 * Claims the keys, and adds a pet for each claimed key, with the id that is in the claim. Servers that claim the same
 * keys cannot wait for each other in a circle, because all claim in the same order. A claim waits for the transaction
 * that has claimed the key before, and then returns no row, unless the older record is no longer valid.
 */
const ADD_ONCE = `WITH new AS (
    SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::text[], $6::bigint[])
      WITH ORDINALITY AS new (caller, key, name, category_id, status, created_at, place)
  ), claims AS (
    INSERT INTO idempotency_records AS record (caller, key, pet_id, created_at)
    SELECT caller, key, nextval('pets_id_seq'), created_at FROM new ORDER BY caller, key
    ON CONFLICT (caller, key) DO UPDATE SET pet_id = excluded.pet_id, created_at = excluded.created_at
      WHERE record.created_at < excluded.created_at - $7::bigint
    RETURNING caller, key, pet_id
  ), added AS (
    INSERT INTO pets (id, name, category_id, status)
    SELECT pet_id, name, category_id, status FROM claims JOIN new USING (caller, key)
  )
  SELECT place, pet_id FROM claims JOIN new USING (caller, key)`;

export interface Create {
  readonly pet: NewPet;
  /** Set when the pet is created exactly once for a caller and a key. */
  readonly attempt: CreateAttempt | undefined;
}

/** The id of the stored pet, or `undefined` when nothing was stored because the key has a record. */
export type Added = bigint | undefined;

export type CreateCall = Call<Create, Added>;

/**
 * Divides creates into those that one statement can contain, and the others. A statement can contain each key once,
 * and records that are valid for the same time.
 */
export function withDifferentKeys(calls: readonly CreateCall[]): { now: CreateCall[]; later: CreateCall[] } {
  const now: CreateCall[] = [];
  const later: CreateCall[] = [];
  const names = new Set<string>();
  for (const call of calls) {
    const { caller, key } = call.item.attempt as CreateAttempt;
    const name = JSON.stringify([caller, key]);
    const isSent = !names.has(name) && (now[0] === undefined || lifetimeOf(call) === lifetimeOf(now[0]));
    if (isSent) names.add(name);
    (isSent ? now : later).push(call);
  }
  return { now, later };
}

function lifetimeOf({ item }: CreateCall): number {
  const { at, validFrom } = item.attempt as CreateAttempt;
  return at - validFrom;
}

export function statementOf(group: readonly CreateCall[]): Statement {
  const [first] = group as [CreateCall, ...CreateCall[]];
  if (group.length === 1 && first.item.attempt === undefined) {
    const { name, categoryId, status } = first.item.pet;
    return { name: 'add', text: ADD, values: [name, categoryId, status] };
  }
  const pets = group.map(({ item }) => item.pet);
  const names = pets.map(({ name }) => name);
  const categories = `{${pets.map(({ categoryId }) => categoryId).join()}}`;
  const statuses = `{${pets.map(({ status }) => status).join()}}`;
  if (first.item.attempt !== undefined) {
    const attempts = group.map(({ item }) => item.attempt as CreateAttempt);
    const callers = attempts.map(({ caller }) => caller);
    const keys = attempts.map(({ key }) => key);
    const times = `{${attempts.map(({ at }) => at).join()}}`;
    const values = [callers, keys, names, categories, statuses, times, lifetimeOf(first)];
    return { name: 'add-once', text: ADD_ONCE, values };
  }
  return { name: 'add-all', text: ADD_ALL, values: [names, categories, statuses] };
}

/** Resolves the calls of a group with the rows of its statement. */
export function settle(group: readonly CreateCall[], rows: readonly Row[]): void {
  if (group[0]?.item.attempt === undefined) {
    const ids = rows.map(([id]) => id as bigint).sort((a, b) => (a < b ? -1 : 1));
    for (const [index, { resolve }] of group.entries()) resolve(ids[index]);
    return;
  }
  const ids = new Map(rows.map(([place, id]) => [Number(place), id as bigint]));
  for (const [index, { resolve }] of group.entries()) resolve(ids.get(index + 1));
}
