/** Creates pets in PostgreSQL. A pet and its idempotency record are stored in one transaction. */

import { CREATE_REQUEST } from '../../application/ports/idempotent-changes.ts';
import type * as ports from '../../application/ports/idempotent-creates.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { type NewPet, type Pet, storedPet } from '../../domain/pet.ts';
import { ATTRIBUTE_COLUMNS as ATTRIBUTES, PET_COLUMNS } from '../storage-kit/pet-rows.ts';
import { exactlyOnce, replayedPet, responseAfterId } from '../storage-kit/records.ts';
import type { ConnectionPool, ResultRow, SqlStatement } from './connection-pool.ts';
import type { GroupedWrites } from './grouped-writes.ts';
import { arrayParameters, arraysOf, NOW, ORDER, RELAXED } from './pets.ts';

/** The pets get ascending ids in the given order: the first pet gets the smallest of the returned ids. */
const ADD = `WITH ${ORDER} INSERT INTO pets (${ATTRIBUTES}) SELECT ${ATTRIBUTES} FROM ordered, unnest(${arrayParameters()})
  WITH ORDINALITY AS new (${ATTRIBUTES}, _place) ORDER BY _place RETURNING id`;
/** The conflict clause of an INSERT of records. It replaces records that have ended. Valid records stay, and return no row. */
export const RENEW_RECORD: string = `ON CONFLICT (caller, key) DO UPDATE SET pet_id = excluded.pet_id, ends_at = excluded.ends_at,
      request = excluded.request, response = excluded.response WHERE record.ends_at < ${NOW}`;

/**
 * Stores a record for each key that has no valid one, and adds a pet with the id in this record. If several pets have the same key,
 * only the first of them can be added. Returns a row for each pet that was added.
 */
const ADD_ONCE = `WITH ${ORDER}, new AS MATERIALIZED (
    SELECT DISTINCT ON (_caller, _key) given.* FROM ordered,
      unnest(${arrayParameters('text', 'text', 'bigint', 'text')})
        WITH ORDINALITY AS given (${ATTRIBUTES}, _caller, _key, _valid_for, _response, _place) ORDER BY _caller, _key, _place
  ), claims AS (
    INSERT INTO idempotency_records AS record (caller, key, pet_id, ends_at, request, response)
    SELECT _caller, _key, _id, ${NOW} + _valid_for, '${CREATE_REQUEST}', concat('{"id":', _id, _response)
    FROM (SELECT nextval('pets_id_seq') AS _id, * FROM new ORDER BY _caller, _key) AS numbered
    ${RENEW_RECORD}
    RETURNING caller AS _caller, key AS _key, pet_id AS _id
  ), added AS (
    INSERT INTO pets (${PET_COLUMNS}) SELECT _id, ${ATTRIBUTES} FROM claims JOIN new USING (_caller, _key) RETURNING id
  ) SELECT _place, id FROM added JOIN claims ON id = _id JOIN new USING (_caller, _key) WHERE ${assertEqualCounts('claims', 'added')}`;

/** Selects a valid record. */
export const selectRecord = (caller: string, key: string): string =>
  `SELECT pet_id AS _id, request AS _request, response AS _response FROM idempotency_records
      WHERE caller = ${caller} AND key = ${key} AND ends_at >= ${NOW}`;
const FIND = `SELECT record.*, ${PET_COLUMNS} FROM (${selectRecord('$1', '$2')}) AS record LEFT JOIN pets ON id = _id`;
/**
 * Removes ended records, but not those that a write has renewed since the statement began. The commit does not wait for the disk,
 * because a later call removes the records that reappear after a crash.
 */
export const REMOVE: string = `WITH ${RELAXED}, ${ORDER} DELETE FROM idempotency_records
  WHERE ends_at < ${NOW} AND (caller, key) IN (
    SELECT caller, key FROM relaxed, ordered, idempotency_records WHERE ends_at < ${NOW} ORDER BY ends_at LIMIT $1)
  RETURNING 1`;
const DROPPED = 'a trigger of the database has dropped pets: it is unknown which ones were stored';

/** Returns a condition that divides by zero (error 22012) when a trigger in the database has dropped rows. */
export function assertEqualCounts(rows: string, ...others: readonly string[]): string {
  const sum = others.map((each) => `(SELECT count(*) FROM ${each})`).join(' + ');
  return `1 / CASE WHEN (SELECT count(*) FROM ${rows}) = ${sum} THEN 1 ELSE 0 END = 1`;
}

export interface Create {
  readonly pet: NewPet;
  readonly attempt?: ports.CreateAttempt | undefined;
}

/** Resolves with the stored pet, or with `undefined` when the key has a valid record. */
export type AddCreate = (create: Create) => Promise<Pet | undefined>;

/** Returns the function that creates pets, with or without an idempotency key. */
export function groupedCreates(writes: GroupedWrites): AddCreate {
  const kind = { statementFor, resultsOf };
  const [plain, keyed] = [writes.ofKind(kind), writes.ofKind(kind)];
  return (create) => (create.attempt === undefined ? plain : keyed)(create);
}

/** Either all creates have a key, or none has one. */
export function statementFor(creates: readonly Create[]): SqlStatement {
  const pets = arraysOf(creates.map(({ pet }) => pet));
  const attempts = creates.flatMap(({ attempt }) => attempt ?? []);
  if (attempts.length === 0) return { name: 'add', text: ADD, values: pets };
  const [callers, keys] = [attempts.map(({ caller }) => caller), attempts.map(({ key }) => key)];
  const validities = `{${attempts.map(({ validFor }) => validFor).join()}}`;
  const responses = creates.map(({ pet }) => responseAfterId(pet));
  return { name: 'add-once', text: ADD_ONCE, values: [...pets, callers, keys, validities, responses] };
}

function resultsOf(creates: readonly Create[], rows: readonly ResultRow[]): readonly (Pet | undefined)[] {
  const isKeyed = creates[0]?.attempt !== undefined;
  const ids = isKeyed ? [] : rows.map(([id]) => id as bigint).sort((a, b) => (a < b ? -1 : 1));
  if (!isKeyed && ids.length < creates.length) throw new AnimalStoreError('internal_error', DROPPED);
  if (isKeyed) for (const [place, id] of rows) ids[Number(place) - 1] = id as bigint;
  return creates.map(({ pet }, index) => {
    const id = ids[index];
    return id === undefined ? undefined : storedPet(id, pet);
  });
}

type Records = ports.IdempotentCreates & ports.IdempotencyRecords;

export function idempotentCreates(add: AddCreate, pool: ConnectionPool): Records {
  return {
    add: exactlyOnce({
      claim: (pet, attempt) => add({ pet, attempt }),
      async find({ caller, key }) {
        const [row] = await pool.read({ name: 'find-record', text: FIND, values: [caller, key] });
        const [stored] = row?.slice(3) ?? [];
        return row && replayedPet(row, stored === null ? undefined : row.slice(3));
      },
    }),
    async count() {
      using session = await pool.openSession();
      await session.begin('READ ONLY');
      return Number((await session.run('SELECT count(*) FROM idempotency_records'))[0]?.[0]);
    },
    removeRecords: async (limit) => (await pool.write(REMOVE, [limit])).length,
  };
}
