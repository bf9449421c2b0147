/** Creates: those that wait are the next statement, so that they share a commit. A pet and the record of its key are one transaction. */

import { nextTurn } from '../../application/next-turn.ts';
import type * as ports from '../../application/ports/idempotent-creates.ts';
import type { Observer } from '../../application/ports/observer.ts';
import { closedError } from '../../application/ports/storage.ts';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { type NewPet, type Pet, storedPet } from '../../domain/pet.ts';
import { exactlyOnce, petRemoved } from '../storage-kit/exactly-once.ts';
import { ATTRIBUTE_COLUMNS as ATTRIBUTES, PET_COLUMNS, petOf } from '../storage-kit/pet-rows.ts';
import { codeOf } from '../storage-kit/store-errors.ts';
import type { ConnectionPool, ResultRow, SqlStatement } from './connection-pool.ts';
import { type Faults, storageError, writeError } from './errors.ts';
import { arrayParameters, arraysOf, ORDER, RELAXED } from './pets.ts';

const STATEMENT_LIMIT = 1000;
const QUEUE_LIMIT = 10_000;
/** The clock of the database decides when a record ends. It is read once for each statement. In milliseconds. */
const NOW = '(extract(epoch FROM statement_timestamp()) * 1000)::bigint';
/** The returned ids, in ascending order, belong to the pets in their order. */
const ADD = `WITH ${ORDER} INSERT INTO pets (${ATTRIBUTES}) SELECT ${ATTRIBUTES} FROM ordered, unnest(${arrayParameters()})
  WITH ORDINALITY AS new (${ATTRIBUTES}, place) ORDER BY place RETURNING id`;
/** Adds a pet for each claimed key, with the id in the claim. Of equal keys, the first is claimed. A key with a valid record returns no row. */
const ADD_ONCE = `WITH ${ORDER}, new AS MATERIALIZED (
    SELECT DISTINCT ON (caller, key) given.* FROM ordered,
      unnest(${arrayParameters('text', 'text', 'bigint')})
        WITH ORDINALITY AS given (${ATTRIBUTES}, caller, key, valid_for, place) ORDER BY caller, key, place
  ), claims AS (
    INSERT INTO idempotency_records AS record (caller, key, pet_id, ends_at)
    SELECT caller, key, nextval('pets_id_seq'), ${NOW} + valid_for FROM new ORDER BY caller, key
    ON CONFLICT (caller, key) DO UPDATE SET pet_id = excluded.pet_id, ends_at = excluded.ends_at
      WHERE record.ends_at < ${NOW}
    RETURNING caller, key, pet_id
  ), added AS (
    INSERT INTO pets (${PET_COLUMNS}) SELECT pet_id, ${ATTRIBUTES} FROM claims JOIN new USING (caller, key) RETURNING id
  ) SELECT place, id FROM added JOIN claims ON id = pet_id JOIN new USING (caller, key)`;

const FIND = `SELECT ${PET_COLUMNS}, pet_id FROM idempotency_records LEFT JOIN pets ON id = pet_id
  WHERE caller = $1 AND key = $2 AND ends_at >= ${NOW}`;
/** A record that a create has renewed since the statement began is not removed. What a crash brings back is removed again. */
export const REMOVE: string = `WITH ${RELAXED}, ${ORDER} DELETE FROM idempotency_records
  WHERE ends_at < ${NOW} AND (caller, key) IN (
    SELECT caller, key FROM relaxed, ordered, idempotency_records WHERE ends_at < ${NOW} ORDER BY ends_at LIMIT $1)
  RETURNING 1`;
const FULL = 'too many pets wait for the database';
const DROPPED = 'a trigger of the database has dropped pets: it is unknown which ones were stored';

export interface Create {
  readonly pet: NewPet;
  readonly attempt?: ports.CreateAttempt | undefined;
}

interface QueuedCreate extends Create {
  readonly deadline: number;
  resolve(pet: Pet | undefined): void;
  reject(error: unknown): void;
}

export interface Creates {
  /** Resolves with the stored pet, or with `undefined` when the key has a record. */
  addCreate(pet: NewPet, attempt?: ports.CreateAttempt): Promise<Pet | undefined>;
  waiting(): number;
  close(): Promise<void>;
}

export function groupedCreates(pool: ConnectionPool, faults: Faults, observer: Observer): Creates {
  const [plain, keyed]: [QueuedCreate[], QueuedCreate[]] = [[], []];
  const waiting = () => plain.length + keyed.length;
  let sending: Promise<void> | undefined;
  let isClosed = false;

  async function sendAll(): Promise<void> {
    await nextTurn();
    while (waiting() > 0) for (const queue of [plain, keyed]) if (queue.length > 0) await send(queue);
    sending = undefined;
  }

  /** Those that waited too long are not sent. */
  function takeFrom(queue: QueuedCreate[]): readonly QueuedCreate[] {
    const now = performance.now();
    const late = `the database was busy for ${pool.waitTimeout / 1000} s: nothing was stored`;
    const isInTime = ({ deadline, reject }: QueuedCreate) =>
      deadline > now || void reject(storageUnavailable(late));
    return queue.splice(0, STATEMENT_LIMIT).filter(isInTime);
  }

  /** Creates that arrive before a connection is free belong to the statement. */
  async function send(queue: QueuedCreate[]): Promise<void> {
    let group: readonly QueuedCreate[] | undefined;
    let startedAt = 0;
    try {
      const rows = await pool.run(() => {
        group ??= takeFrom(queue);
        startedAt = performance.now();
        return statementFor(group);
      });
      settle(group ?? [], rows);
      faults.reportSuccess('write');
      observer.onCommit?.({ writes: rows.length, ms: performance.now() - startedAt });
    } catch (error) {
      group ??= takeFrom(queue);
      // A pet that the database refuses, by a data exception or a constraint, must fail alone.
      if (/^2[23]/.test(codeOf(error)) && group.length > 1) {
        await send(group.slice(0, group.length >> 1));
        return await send(group.slice(group.length >> 1));
      }
      faults.reportFailure('write', storageError(error));
      const reason = writeError(error);
      for (const { reject } of group) reject(reason);
    }
  }

  return {
    addCreate: (pet, attempt) =>
      new Promise((resolve, reject) => {
        if (isClosed) throw closedError();
        if (waiting() >= QUEUE_LIMIT) throw new AnimalStoreError('overloaded', FULL);
        const deadline = performance.now() + pool.waitTimeout;
        (attempt ? keyed : plain).push({ pet, attempt, deadline, resolve, reject });
        sending ??= sendAll();
      }),
    waiting,
    async close() {
      isClosed = true;
      await sending;
    },
  };
}

/** Either all creates have a key, or none has one. */
export function statementFor(creates: readonly Create[]): SqlStatement {
  const pets = arraysOf(creates.map(({ pet }) => pet));
  const attempts = creates.flatMap(({ attempt }) => attempt ?? []);
  if (attempts.length === 0) return { name: 'add', text: ADD, values: pets };
  const [callers, keys] = [attempts.map(({ caller }) => caller), attempts.map(({ key }) => key)];
  const validities = `{${attempts.map(({ validFor }) => validFor).join()}}`;
  return { name: 'add-once', text: ADD_ONCE, values: [...pets, callers, keys, validities] };
}

function settle(group: readonly QueuedCreate[], rows: readonly ResultRow[]): void {
  const isKeyed = group[0]?.attempt !== undefined;
  const ids = isKeyed ? [] : rows.map(([id]) => id as bigint).sort((a, b) => (a < b ? -1 : 1));
  if (!isKeyed && ids.length < group.length) throw new AnimalStoreError('internal_error', DROPPED);
  if (isKeyed) for (const [place, id] of rows) ids[Number(place) - 1] = id as bigint;
  for (const [index, { pet, resolve }] of group.entries()) {
    const id = ids[index];
    resolve(id === undefined ? undefined : storedPet(id, pet));
  }
}

type Records = ports.IdempotentCreates & ports.IdempotencyRecords;

export function idempotentCreates(creates: Creates, pool: ConnectionPool): Records {
  return {
    add: exactlyOnce({
      claim: creates.addCreate,
      async find({ caller, key }) {
        const values = [caller, key];
        const [row] = await pool.read(() => ({ name: 'find-record', text: FIND, values }));
        if (row?.[0] === null) throw petRemoved(row.at(-1) as bigint);
        return row && petOf(row);
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
