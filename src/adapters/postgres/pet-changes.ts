/** Changes and removes pets in PostgreSQL. One statement makes many queued changes, each of a different pet. */

import type { ChangeAttempt, IdempotentChanges } from '../../application/ports/idempotent-changes.ts';
import type { PetChanges } from '../../application/ports/pet-changes.ts';
import type { Storage } from '../../application/ports/storage.ts';
import type { Pet } from '../../domain/pet.ts';
import { changesPage, EXAMINED_LIMIT, listedVersion, versionOf } from '../storage-kit/changes-page.ts';
import { ATTRIBUTE_COLUMNS as ATTRIBUTES, PET_COLUMNS, petOf } from '../storage-kit/pet-rows.ts';
import { recordOf, responseOf } from '../storage-kit/records.ts';
import type { ConnectionPool, ResultRow, SqlStatement } from './connection-pool.ts';
import { assertEqualCounts, RENEW_RECORD, selectRecord } from './creates.ts';
import type { GroupedWrites } from './grouped-writes.ts';
import { arrayParameters, arraysOf, NOW, ORDER } from './pets.ts';
import { LAST_ID, NEW_EPOCH } from './schema.ts';

/** A change or a removal. A removal ignores the attributes of the pet. */
export interface Change {
  readonly pet: Pet;
  readonly isRemoval: boolean;
  readonly expected: bigint;
  readonly attempt?: ChangeAttempt | undefined;
}

const NEW = `${ORDER}, new AS MATERIALIZED (
    SELECT given.* FROM ordered, unnest(${arrayParameters('bigint', 'bigint', 'boolean', 'text', 'text', 'bigint', 'text', 'text')})
      WITH ORDINALITY AS given (${ATTRIBUTES}, _id, _expected, _is_removal, _caller, _key, _valid_for, _request, _response, _place)
  )`;
const recordsOf = (rows: string) => `records AS (
    INSERT INTO idempotency_records AS record (caller, key, pet_id, ends_at, request, response)
    SELECT _caller, _key, _id, ${NOW} + _valid_for, _request, _response FROM ${rows} ORDER BY _caller, _key
    ${RENEW_RECORD} RETURNING caller AS _caller, key AS _key
  )`;
/**
 * The statement takes its snapshot before it gets the order lock. Because the snapshot can be old, the revision is compared twice.
 * The first comparison uses the snapshot, and decides whether `nextval` is called: most changes that fail take no number from the
 * sequence. The second comparison reads the newest row of `pet_revisions`. ON CONFLICT locks this row even if the revisions differ.
 * Because of this lock, the commit waits for a synchronous standby, even if nothing was changed. If another session has stored a
 * record of the same idempotency key since the snapshot, the pet gets a new revision, but its attributes stay as they are.
 */
const CHANGE = `WITH ${NEW}, claims AS (
    INSERT INTO pet_revisions AS known (pet_id, revision)
    SELECT _id, nextval('pets_id_seq') FROM new WHERE EXISTS (SELECT 1 FROM pets WHERE id = _id)
      AND _expected = coalesce((SELECT revision FROM pet_revisions WHERE pet_id = _id), _id)
      AND NOT EXISTS (${selectRecord('_caller', '_key')})
    ON CONFLICT (pet_id) DO UPDATE SET revision = excluded.revision
      WHERE known.revision = (SELECT _expected FROM new WHERE _id = known.pet_id)
    RETURNING pet_id AS _id, revision
  ), ${recordsOf('claims JOIN new USING (_id) WHERE _key IS NOT NULL')}, made AS MATERIALIZED (
    SELECT new.*, revision FROM claims JOIN new USING (_id)
    WHERE _key IS NULL OR (_caller, _key) IN (SELECT _caller, _key FROM records)
  ), changed AS (
    UPDATE pets SET (${ATTRIBUTES}) = ROW (${ATTRIBUTES.replaceAll(/\w+/g, 'made.$&')})
    FROM made WHERE id = _id AND NOT _is_removal RETURNING 1
  ), removed AS (
    DELETE FROM pets USING made WHERE id = _id AND _is_removal RETURNING 1
  ) SELECT _place, revision FROM made WHERE ${assertEqualCounts('made', 'changed', 'removed')}`;
/** Takes the order lock, so that only one connection waits for a missing standby. The others time out waiting for the lock. */
const RECORD = `WITH ${NEW}, ${recordsOf('new')} SELECT _place, _id FROM records JOIN new USING (_caller, _key)`;

/** Locks a row, so that the commit waits until a synchronous standby has this commit and all earlier ones. */
const CONFIRM = `WITH ${ORDER} SELECT 1 FROM ordered, animal_store_schema FOR KEY SHARE OF animal_store_schema`;

/** Without a caller and a key, the statement finds no record. */
const FIND = `SELECT record.*, (SELECT revision FROM pet_revisions WHERE pet_id = _sought), ${PET_COLUMNS}
  FROM (SELECT $1::bigint AS _sought) AS sought LEFT JOIN (${selectRecord('$2', '$3')}) AS record ON true LEFT JOIN pets ON id = _sought`;

/**
 * Reads changed pets, pets that were never changed, and one row about the store. To find pets that were never changed, a sub-select
 * looks up the revision of one pet after another, until the page is full or {@link EXAMINED_LIMIT} pets are examined. With
 * NOT EXISTS instead of the sub-select, PostgreSQL could read all revisions.
 */
const LIST = `WITH changed AS MATERIALIZED (
    SELECT revision, pet_id AS _id FROM pet_revisions WHERE revision > $1 ORDER BY revision LIMIT $2 + 1
  ), reach AS MATERIALIZED (
    SELECT CASE WHEN count(*) > $2 THEN (SELECT revision FROM changed ORDER BY revision OFFSET $2 - 1 LIMIT 1)
      ELSE 9223372036854775807 END AS last FROM changed
  ), unchanged AS MATERIALIZED (
    SELECT * FROM (SELECT * FROM pets WHERE id > $1 AND id <= (SELECT last FROM reach) ORDER BY id LIMIT ${EXAMINED_LIMIT}) AS examined
    WHERE (SELECT true FROM pet_revisions WHERE pet_id = examined.id) IS NULL ORDER BY id LIMIT $2 + 1
  )
  SELECT 'changed', revision, _id, ${PET_COLUMNS}, NULL FROM changed LEFT JOIN pets ON id = _id
  UNION ALL SELECT 'unchanged', id, id, ${PET_COLUMNS}, NULL FROM unchanged
  UNION ALL SELECT 'store', (SELECT coalesce(${LAST_ID}, 0) FROM pets),
    CASE WHEN (SELECT count(*) FROM unchanged) <= $2 THEN (SELECT id FROM pets
      WHERE id > $1 AND id <= (SELECT last FROM reach) ORDER BY id LIMIT 1 OFFSET ${EXAMINED_LIMIT - 1}) END,
    NULL, ${ATTRIBUTES.replaceAll(/\w+/g, 'NULL')}, (SELECT epoch FROM animal_store_schema)
  ORDER BY 1, 2`;

export function petChanges(
  pool: ConnectionPool,
  writes: GroupedWrites,
): Pick<Storage, 'changes' | 'idempotentChanges'> {
  const write = writes.ofKind({ statementFor, resultsOf: revisionsOf, namesOf });
  const record = writes.ofKind({ statementFor: recordStatement, resultsOf: revisionsOf, namesOf });
  const confirm = writes.ofKind({ statementFor: () => ({ text: CONFIRM }), resultsOf: () => [undefined] });
  const replace = (pet: Pet, expected: bigint, attempt?: ChangeAttempt) =>
    write({ pet: { ...pet }, isRemoval: false, expected, attempt });
  const remove = (id: bigint, expected: bigint, attempt?: ChangeAttempt) =>
    write({ pet: { id } as Pet, isRemoval: true, expected, attempt });

  const find = async (id: bigint, caller?: string, key?: string) => {
    const [row = []] = await pool.read({ name: 'find-version', text: FIND, values: [id, caller, key] });
    return { record: row[0] === null ? undefined : recordOf(row), version: versionOf(row.slice(3)) };
  };

  const idempotentChanges: IdempotentChanges = {
    find: (id, { caller, key }) => find(id, caller, key),
    replace,
    remove,
    record: async (id, pet, attempt) =>
      (await record({ pet: { ...pet, id } as Pet, isRemoval: !pet, expected: 0n, attempt })) !== undefined,
  };
  const changes: PetChanges = {
    find: async (id) => (await find(id)).version,
    replace: (pet, expected) => replace(pet, expected),
    remove: (id, expected) => remove(id, expected),
    async list({ after = 0n, limit }) {
      const rows = await pool.read({ name: 'list-changes', text: LIST, values: [after, limit] });
      const ofKind = (kind: string): readonly ResultRow[] => rows.filter(([each]) => each === kind);
      const [[, lastNumber, examinedUpTo, ...others] = []] = ofKind('store');
      return changesPage({
        after,
        limit,
        changed: ofKind('changed').map(([, ...row]) => listedVersion(row)),
        unchanged: ofKind('unchanged').map((row) => petOf(row.slice(3))),
        examinedUpTo: (examinedUpTo ?? undefined) as bigint | undefined,
        epoch: others.at(-1) as string,
        lastNumber: lastNumber as bigint,
      });
    },
    confirm: () => confirm(undefined),
    beginEpoch: async () =>
      void (await pool.write(`UPDATE animal_store_schema SET epoch = ${NEW_EPOCH}`, [])),
  };
  return { changes, idempotentChanges };
}

export function statementFor(changes: readonly Change[]): SqlStatement {
  const pets = changes.map(({ pet }) => pet);
  const numbers = [pets.map(({ id }) => id), changes.map(({ expected }) => expected)];
  const removals = changes.map(({ isRemoval }) => isRemoval);
  const attempts = changes.map(({ attempt }) => attempt);
  const values = [
    ...arraysOf(pets),
    ...[...numbers, removals].map((array) => `{${array.join()}}`),
    attempts.map((attempt) => attempt?.caller),
    attempts.map((attempt) => attempt?.key),
    `{${attempts.map((attempt) => attempt?.validFor ?? 'NULL').join()}}`,
    attempts.map((attempt) => attempt?.request),
    changes.map(({ pet, isRemoval, attempt }) => attempt && responseOf(pet.id, isRemoval ? undefined : pet)),
  ];
  return { name: 'change', text: CHANGE, values };
}

function recordStatement(changes: readonly Change[]): SqlStatement {
  return { ...statementFor(changes), name: 'record', text: RECORD };
}

/**
 * One statement may change a pet only once, and use a key only once. A key contains no space, so different pairs of key and caller
 * have different names.
 */
function namesOf({ pet, attempt }: Change): readonly string[] {
  return attempt === undefined ? [`${pet.id}`] : [`${pet.id}`, `${attempt.key} ${attempt.caller}`];
}

/** Returns the revision of each change, or `undefined` for a change that was not made. */
function revisionsOf(changes: readonly unknown[], rows: readonly ResultRow[]): (bigint | undefined)[] {
  const revisions = new Map(rows.map(([place, revision]) => [Number(place), revision as bigint]));
  return changes.map((_, index) => revisions.get(index + 1));
}
