import { setTimeout as delay } from 'node:timers/promises';
import type { CallQueue, QueuedCall } from '../../application/call-queue.ts';
import { Gathering } from '../../application/gathering.ts';
import type { CreateAttempt } from '../../application/ports/idempotent-creates.ts';
import type { Observer } from '../../application/ports/observer.ts';
import { closedError } from '../../application/ports/storage.ts';
import type { NewPet } from '../../domain/pet.ts';
import type { Connections, Failure, Row, Statement } from './connections.ts';
import { isLockTimeout, isRowError, isSerializationFailure, outcomeUnknown, storageError } from './errors.ts';
import type { Health } from './health.ts';
import { columnsOf } from './pets.ts';

/** The maximum number of creates in one statement. */
const LIMIT = 1000;

/** In milliseconds: before a transaction is repeated, and before claims that wait for another server are sent alone. */
const REPEAT_PAUSE = 10;
const LOCK_TIMEOUT = 20;

const ADD = 'INSERT INTO pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING id';

/** The returned ids, in ascending order, belong to the pets in their order. */
const ADD_ALL = `INSERT INTO pets (name, category_id, status)
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

/** Stores pets with group commit: creates that arrive while others are in flight are sent together, in one statement. */
export class Creates {
  readonly #connections: Connections;
  readonly #waiting: Connections;
  readonly #health: Health;
  readonly #observer: Observer;
  readonly #queue: CallQueue<Create, bigint | undefined>;
  readonly #gathering: Gathering = new Gathering(
    LIMIT,
    () => this.#queue.length,
    () => void this.#sendNext(),
  );
  readonly #sending = new Set<Promise<void>>();
  #isBusy = false;
  #isClosed = false;

  /** @param waiting the connections for claims that wait for a lock */
  constructor(connections: Connections, waiting: Connections, health: Health, observer: Observer) {
    this.#connections = connections;
    this.#waiting = waiting;
    this.#health = health;
    this.#observer = observer;
    this.#queue = connections.newQueue();
  }

  /**
   * Resolves with the id of the stored pet, or with `undefined` when the key has a record. All creates of one object have
   * a key, or none has one.
   */
  addCreate(create: Create): Promise<bigint | undefined> {
    if (this.#isClosed) return Promise.reject(closedError());
    const added = this.#queue.addCall(create);
    if (!this.#isBusy) this.#gathering.added();
    return added;
  }

  get waiting(): number {
    return this.#queue.length;
  }

  /** Completes the accepted creates. */
  async close(): Promise<void> {
    this.#isClosed = true;
    while (this.#sending.size > 0 || this.#queue.length > 0) {
      void this.#sendNext();
      await Promise.all(this.#sending);
    }
  }

  async #sendNext(): Promise<void> {
    this.#gathering.end();
    if (this.#isBusy) return;
    const group = this.#queue.takeCalls(LIMIT);
    if (group.length === 0) return;
    this.#isBusy = true;
    const startedAt = performance.now();
    await this.#track(this.#send(group, this.#connections));
    this.#isBusy = false;
    this.#gathering.committed(group.length, performance.now() - startedAt);
  }

  /** Makes `close` wait for a group. */
  async #track(sending: Promise<void>): Promise<void> {
    this.#sending.add(sending);
    await sending;
    this.#sending.delete(sending);
  }

  async #send(group: Group, connections: Connections): Promise<void> {
    const startedAt = performance.now();
    const lockTimeout = connections === this.#waiting ? 0 : LOCK_TIMEOUT;
    const outcome = await connections.run(statementFor(group, lockTimeout));
    if ('rows' in outcome) {
      this.#health.report('write');
      settle(group, outcome.rows);
      this.#observer.onCommit?.({ writes: group.length, ms: performance.now() - startedAt });
    } else await this.#fail(group, connections, outcome);
  }

  async #fail(group: Group, connections: Connections, { error, isUnknown }: Failure): Promise<void> {
    if (isLockTimeout(error) && group[0]?.item.attempt && connections !== this.#waiting) {
      // One claim that waits for another server must not delay the others.
      for (const call of group) void this.#track(this.#send([call], this.#waiting));
    } else if (isSerializationFailure(error)) {
      await delay(REPEAT_PAUSE);
      this.#queue.putBackCalls(group);
      if (!this.#isBusy) this.#gathering.added();
    } else if (isRowError(error) && group.length > 1) {
      // A pet that the database refuses must fail alone.
      const half = Math.ceil(group.length / 2);
      await this.#send(group.slice(0, half), connections);
      await this.#send(group.slice(half), connections);
    } else {
      this.#health.report('write', error);
      const reason = isUnknown ? outcomeUnknown(error) : storageError(error);
      for (const { reject } of group) reject(reason);
    }
  }
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
  const [first] = pets;
  if (first === undefined || pets.length > 1)
    return { name: 'add-all', text: ADD_ALL, values: columnsOf(pets) };
  return { name: 'add', text: ADD, values: [first.name, first.categoryId, first.status] };
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
