import { setTimeout as delay } from 'node:timers/promises';
import type { QueuedCall } from '../../application/call-queue.ts';
import { Gathering } from '../../application/gathering.ts';
import type { CreateAttempt } from '../../application/ports/idempotent-creates.ts';
import type { Observer } from '../../application/ports/observer.ts';
import { closedError } from '../../application/ports/storage.ts';
import type { NewPet } from '../../domain/pet.ts';
import type { Connections, Failure, Row, Statement } from './connections.ts';
import { type Faults, isLockTimeout, isRowError, storageError, writeError } from './errors.ts';
import { columnsOf } from './pets.ts';

/** The maximum number of creates in one statement. */
const LIMIT = 1000;

/** How long claims wait for another server before each is sent alone, in milliseconds. */
const LOCK_TIMEOUT = 20;

/** How often `close` looks whether all creates are complete, in milliseconds. */
const POLL_INTERVAL = 5;

/** The returned ids, in ascending order, belong to the pets in their order. */
const ADD = `INSERT INTO pets (name, category_id, status)
  SELECT name, category_id, status FROM unnest($1::text[], $2::bigint[], $3::text[])
    WITH ORDINALITY AS new (name, category_id, status, place) ORDER BY place
  RETURNING id`;

/**
 * Adds a pet for each claimed key, with the id that is in the claim. All servers claim in the same order, so they cannot
 * wait for each other in a circle. A claim waits for the transaction that has claimed the key before, for `lock_timeout`
 * at most, and then returns no row, unless the older record is no longer valid. Of equal keys, the first is claimed.
 */
const ADD_ONCE = `WITH setting AS MATERIALIZED (
    SELECT set_config('lock_timeout', $8::text, true)
  ), new AS MATERIALIZED (
    SELECT DISTINCT ON (caller, key) given.* FROM setting,
      unnest($1::text[], $2::bigint[], $3::text[], $4::text[], $5::text[], $6::bigint[], $7::bigint[])
        WITH ORDINALITY AS given (name, category_id, status, caller, key, created_at, valid_from, place)
    ORDER BY caller, key, place
  ), claims AS (
    INSERT INTO idempotency_records AS record (caller, key, pet_id, created_at)
    SELECT caller, key, nextval('pets_id_seq'), created_at FROM new ORDER BY caller, key
    ON CONFLICT (caller, key) DO UPDATE SET pet_id = excluded.pet_id, created_at = excluded.created_at
      WHERE record.created_at < (SELECT valid_from FROM new WHERE (caller, key) = (record.caller, record.key))
    RETURNING caller, key, pet_id
  ), added AS (
    INSERT INTO pets (id, name, category_id, status)
    SELECT pet_id, name, category_id, status FROM claims JOIN new USING (caller, key)
  )
  SELECT place, pet_id FROM claims JOIN new USING (caller, key)`;

export interface Create {
  readonly pet: NewPet;
  /** Set when the pet is created exactly once for a caller and a key. */
  readonly attempt?: CreateAttempt;
}

type Group = readonly QueuedCall<Create, bigint | undefined>[];

export interface Creates {
  /**
   * Resolves with the id of the stored pet, or with `undefined` when the key has a record. All creates of one object have
   * a key, or none has one.
   */
  addCreate(create: Create): Promise<bigint | undefined>;
  waiting(): number;
  /** Completes the accepted creates. */
  close(): Promise<void>;
}

/**
 * Stores pets with group commit: creates that arrive while others are in flight are sent together, in one statement.
 *
 * @param others the connections for claims that wait for a lock
 */
export function groupedCreates(
  connections: Connections,
  others: Connections,
  faults: Faults,
  observer: Observer,
): Creates {
  const queue = connections.newQueue<Create, bigint | undefined>();
  const waiting = () => queue.length;
  const gathering = new Gathering(LIMIT, waiting, () => void sendNext());
  let isBusy = false;
  let isClosed = false;
  let inFlight = 0;

  async function sendNext(): Promise<void> {
    gathering.end();
    if (isBusy) return;
    const group = queue.takeCalls(LIMIT);
    if (group.length === 0) return;
    isBusy = true;
    const startedAt = performance.now();
    await send(group, connections);
    isBusy = false;
    gathering.committed(group.length, performance.now() - startedAt);
  }

  async function send(group: Group, over: Connections): Promise<void> {
    const startedAt = performance.now();
    inFlight += 1;
    const outcome = await over.run(statementFor(group, over === others ? 0 : LOCK_TIMEOUT));
    if ('rows' in outcome) {
      faults.report({ write: null });
      settle(group, outcome.rows);
      observer.onCommit?.({ writes: group.length, ms: performance.now() - startedAt });
    } else await fail(group, over, outcome);
    inFlight -= 1;
  }

  async function fail(group: Group, over: Connections, { error, isUnknown }: Failure): Promise<void> {
    if (isLockTimeout(error) && group[0]?.item.attempt && over !== others) {
      // One claim that waits for another server must not delay the others.
      for (const call of group) void send([call], others);
    } else if (isRowError(error) && group.length > 1) {
      // A pet that the database refuses must fail alone.
      const half = Math.ceil(group.length / 2);
      await send(group.slice(0, half), over);
      await send(group.slice(half), over);
    } else {
      faults.report({ write: storageError(error) });
      for (const { reject } of group) reject(writeError(error, isUnknown));
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
      while (queue.length + inFlight > 0) await delay(POLL_INTERVAL);
    },
  };
}

function statementFor(group: Group, lockTimeout: number): Statement {
  const pets = group.map(({ item }) => item.pet);
  const attempts = group.flatMap(({ item }) => item.attempt ?? []);
  if (attempts.length > 0) {
    const values = [
      ...columnsOf(pets),
      attempts.map(({ caller }) => caller),
      attempts.map(({ key }) => key),
      `{${attempts.map(({ at }) => at).join()}}`,
      `{${attempts.map(({ validFrom }) => validFrom).join()}}`,
      lockTimeout,
    ];
    return { name: 'add-once', text: ADD_ONCE, values };
  }
  return { name: 'add', text: ADD, values: columnsOf(pets) };
}

function settle(group: Group, rows: readonly Row[]): void {
  if (group[0]?.item.attempt === undefined) {
    const ids = rows.map(([id]) => id as bigint).sort((a, b) => (a < b ? -1 : 1));
    for (const [index, { resolve }] of group.entries()) resolve(ids[index]);
    return;
  }
  const ids = new Map(rows.map(([place, id]) => [Number(place), id as bigint]));
  for (const [index, { resolve }] of group.entries()) resolve(ids.get(index + 1));
}
