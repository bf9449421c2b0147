import { setTimeout as delay } from 'node:timers/promises';
import type { CreateAttempt } from '../../application/ports/idempotent-creates.ts';
import type { Observer } from '../../application/ports/observer.ts';
import { closedError } from '../../application/ports/storage.ts';
import { type NewPet, type Pet, storedPet } from '../../domain/pet.ts';
import { CallQueue, type QueuedCall } from '../storage-kit/call-queue.ts';
import { Gathering } from '../storage-kit/gathering.ts';
import type { ConnectionPool, ResultRow, SqlStatement } from './connection-pool.ts';
import { type Faults, isRowError, storageError, writeError } from './errors.ts';
import { ORDER } from './order.ts';
import { ARRAYS, ATTRIBUTE_COLUMNS, arraysOf, COLUMNS, parameter } from './pets.ts';

/** The maximum number of creates in one statement. */
const LIMIT = 1000;

/** How often `close` looks whether all creates are complete, in milliseconds. */
const POLL_INTERVAL = 5;

/** The returned ids, in ascending order, belong to the pets in their order. */
const ADD = `WITH ${ORDER}
  INSERT INTO pets (${ATTRIBUTE_COLUMNS})
  SELECT ${ATTRIBUTE_COLUMNS} FROM ordered, unnest(${ARRAYS})
    WITH ORDINALITY AS new (${ATTRIBUTE_COLUMNS}, place) ORDER BY place
  RETURNING id`;

/**
 * Adds a pet for each claimed key, with the id that is in the claim. A key with a valid record returns no row. Of equal
 * keys, the first is claimed.
 */
const ADD_ONCE = `WITH ${ORDER}, new AS MATERIALIZED (
    SELECT DISTINCT ON (caller, key) given.* FROM ordered,
      unnest(${ARRAYS}, ${parameter(1)}::text[], ${parameter(2)}::text[], ${parameter(3)}::bigint[], ${parameter(4)}::bigint[])
        WITH ORDINALITY AS given (${ATTRIBUTE_COLUMNS}, caller, key, created_at, valid_from, place)
    ORDER BY caller, key, place
  ), claims AS (
    INSERT INTO idempotency_records AS record (caller, key, pet_id, created_at)
    SELECT caller, key, nextval('pets_id_seq'), created_at FROM new ORDER BY caller, key
    ON CONFLICT (caller, key) DO UPDATE SET pet_id = excluded.pet_id, created_at = excluded.created_at
      WHERE record.created_at < (SELECT valid_from FROM new WHERE (caller, key) = (record.caller, record.key))
    RETURNING caller, key, pet_id
  ), added AS (
    INSERT INTO pets (${COLUMNS})
    SELECT pet_id, ${ATTRIBUTE_COLUMNS} FROM claims JOIN new USING (caller, key)
  )
  SELECT place, pet_id FROM claims JOIN new USING (caller, key)`;

export interface Create {
  readonly pet: NewPet;
  /** Set when the pet is created exactly once for a caller and a key. */
  readonly attempt?: CreateAttempt;
}

type Group = readonly QueuedCall<Create, Pet | undefined>[];

export interface Creates {
  /** Resolves with the stored pet, or with `undefined` when the key has a record. */
  addCreate(create: Create): Promise<Pet | undefined>;
  waiting(): number;
  /** Completes the accepted creates. */
  close(): Promise<void>;
}

/**
 * Stores pets with group commit: creates that arrive while others are in flight are sent together, over one connection.
 * Those with a key are one statement, and the others are another one.
 */
export function groupedCreates(connections: ConnectionPool, faults: Faults, observer: Observer): Creates {
  const timeout = connections.waitTimeout;
  const queue = new CallQueue<Create, Pet | undefined>({
    timeout,
    full: 'too many pets wait for the database',
    late: `the database was busy for ${timeout / 1000} s: nothing was stored`,
  });
  const waiting = () => queue.length;
  const gathering = new Gathering(LIMIT, waiting, () => void sendNext());
  let isBusy = false;
  let isClosed = false;

  async function sendNext(): Promise<void> {
    gathering.end();
    if (isBusy) return;
    const calls = queue.takeCalls(LIMIT);
    if (calls.length === 0) return;
    isBusy = true;
    const startedAt = performance.now();
    for (const group of [calls.filter(({ item }) => !item.attempt), calls.filter(({ item }) => item.attempt)])
      if (group.length > 0) await send(group);
    isBusy = false;
    gathering.committed(calls.length, performance.now() - startedAt);
  }

  async function send(group: Group): Promise<void> {
    const startedAt = performance.now();
    try {
      settle(group, await connections.runStatement(statementFor(group.map(({ item }) => item))));
      faults.reportSuccess('write');
      observer.onCommit?.({ writes: group.length, ms: performance.now() - startedAt });
    } catch (error) {
      if (isRowError(error) && group.length > 1) {
        // A pet that the database refuses must fail alone.
        const half = Math.ceil(group.length / 2);
        await send(group.slice(0, half));
        await send(group.slice(half));
        return;
      }
      faults.reportFailure('write', storageError(error));
      const reason = writeError(error);
      for (const { reject } of group) reject(reason);
    }
  }

  return {
    addCreate(create) {
      if (isClosed) return Promise.reject(closedError());
      const added = queue.addCall(create);
      if (!isBusy) gathering.added();
      return added;
    },
    waiting,
    async close() {
      isClosed = true;
      while (queue.length > 0 || isBusy) await delay(POLL_INTERVAL);
    },
  };
}

/** Either all creates have a key, or none has one. */
export function statementFor(creates: readonly Create[]): SqlStatement {
  const pets = arraysOf(creates.map(({ pet }) => pet));
  const attempts = creates.flatMap(({ attempt }) => attempt ?? []);
  if (attempts.length === 0) return { name: 'add', text: ADD, values: pets };
  const values = [
    ...pets,
    attempts.map(({ caller }) => caller),
    attempts.map(({ key }) => key),
    `{${attempts.map(({ validUntil }) => validUntil).join()}}`,
    `{${attempts.map(({ at }) => at).join()}}`,
  ];
  return { name: 'add-once', text: ADD_ONCE, values };
}

function settle(group: Group, rows: readonly ResultRow[]): void {
  const isOnce = group[0]?.item.attempt !== undefined;
  const ids = rows.map((row) => row.at(-1) as bigint).sort((a, b) => (a < b ? -1 : 1));
  const idOf = isOnce
    ? new Map(rows.map(([place, id]) => [Number(place) - 1, id as bigint]))
    : new Map(ids.entries());
  for (const [index, { item, resolve }] of group.entries()) {
    const id = idOf.get(index);
    resolve(id === undefined ? undefined : storedPet(id, item.pet));
  }
}
