import { setTimeout as delay } from 'node:timers/promises';
import type { CreateAttempt } from '../../application/ports/idempotent-creates.ts';
import type { Observer } from '../../application/ports/observer.ts';
import type { NewPet } from '../../domain/pet.ts';
import type { Connection } from './connection.ts';
import { isRowError, isSerializationFailure, outcomeUnknown, storageError } from './errors.ts';
import { Flights } from './flights.ts';
import { Gathering } from './gathering.ts';
import type { Call } from './pending.ts';
import type { Outcome, Statement } from './statement.ts';

/** The pause before a transaction is repeated, in milliseconds. */
const REPEAT_PAUSE = 10;

const BYTES_PER_CREATE = 400;
const BYTES_PER_CODE_UNIT = 2;

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

interface Create {
  readonly pet: NewPet;
  /** Set when the pet is created exactly once for a caller and a key. */
  readonly attempt: CreateAttempt | undefined;
}

/** The id of the stored pet, or `undefined` when nothing was stored because the key has a record. */
type Added = bigint | undefined;

type CreateCall = Call<Create, Added>;

/**
 * Stores pets with group commit: creates that arrive while other creates are in flight are sent together, in one
 * statement. A create that arrives alone is sent at once.
 */
export class Writer {
  readonly #connection: Connection;
  readonly #observer: Observer;
  readonly #flights: Flights<Create, Added>;

  constructor(connection: Connection, observer: Observer) {
    this.#connection = connection;
    this.#observer = observer;
    this.#flights = new Flights((calls) => this.#send(calls), connection.waitTimeout, new Gathering());
  }

  /** Stores a pet, and resolves with its id. */
  add(pet: NewPet): Promise<bigint> {
    return this.#add({ pet, attempt: undefined }) as Promise<bigint>;
  }

  /** Stores a pet and the record of its key. Resolves with `undefined` when the key has a valid record. */
  addOnce(pet: NewPet, attempt: CreateAttempt): Promise<Added> {
    return this.#add({ pet, attempt });
  }

  /** The number of creates that wait for other creates. */
  get waiting(): number {
    return this.#flights.waiting;
  }

  /** Resolves when all accepted creates are completed. Further creates are refused. */
  close(): Promise<void> {
    return this.#flights.close();
  }

  #add({ pet: { name, categoryId, status }, attempt }: Create): Promise<Added> {
    const create = { pet: { name, categoryId, status }, attempt };
    return this.#flights.add(create, sizeOf(create));
  }

  /** Sends the creates as one statement for those without keys, and one for those with keys. */
  #send(calls: readonly CreateCall[]): Promise<void> {
    return calls.length === 1 ? this.#sendGroups([calls]) : this.#sendDivided(calls);
  }

  async #sendDivided(calls: readonly CreateCall[]): Promise<void> {
    const withoutKeys = calls.filter(({ item }) => item.attempt === undefined);
    const { now, later } = withDifferentKeys(calls.filter(({ item }) => item.attempt !== undefined));
    await this.#sendGroups([withoutKeys, now].filter((group) => group.length > 0));
    this.#flights.putBack(later);
  }

  async #sendGroups(groups: readonly (readonly CreateCall[])[]): Promise<void> {
    const startedAt = performance.now();
    const outcomes = await this.#connection.send(groups.map(statementOf));
    const ms = performance.now() - startedAt;
    for (const [index, group] of groups.entries()) {
      const outcome = outcomes[index] as Outcome;
      if ('rows' in outcome) {
        settle(group, outcome.rows);
        this.#observer.onCommit?.({ writes: group.length, ms });
      } else await this.#failed(group, outcome);
    }
  }

  /** Halves a group with a pet that the database refuses, until this pet fails alone. */
  async #failed(group: readonly CreateCall[], { error, isUnknown }: Extract<Outcome, { error: unknown }>) {
    const half = Math.ceil(group.length / 2);
    if (isSerializationFailure(error)) await this.#repeat(group, error);
    else if (isRowError(error) && group.length > 1) {
      await this.#sendGroups([group.slice(0, half), group.slice(half)]);
    } else {
      const reason = isUnknown ? outcomeUnknown(error) : storageError(error);
      for (const { reject } of group) reject(reason);
    }
  }

  /** Puts the creates back, except for those whose deadline has passed. */
  async #repeat(group: readonly CreateCall[], error: unknown): Promise<void> {
    await delay(REPEAT_PAUSE);
    const now = performance.now();
    for (const { deadline, reject } of group) if (deadline <= now) reject(storageError(error));
    this.#flights.putBack(group.filter(({ deadline }) => deadline > now));
  }
}

/**
 * Divides creates into those that one statement can contain, and the others. A statement can contain each key once,
 * and records that are valid for the same time.
 */
function withDifferentKeys(calls: readonly CreateCall[]): { now: CreateCall[]; later: CreateCall[] } {
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

function statementOf(group: readonly CreateCall[]): Statement {
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

function settle(group: readonly CreateCall[], rows: readonly (readonly unknown[])[]): void {
  if (group[0]?.item.attempt === undefined) {
    const ids = rows.map(([id]) => id as bigint).sort((a, b) => (a < b ? -1 : 1));
    for (const [index, { resolve }] of group.entries()) resolve(ids[index]);
    return;
  }
  const ids = new Map(rows.map(([place, id]) => [Number(place), id as bigint]));
  for (const [index, { resolve }] of group.entries()) resolve(ids.get(index + 1));
}

function sizeOf({ pet, attempt }: Create): number {
  return BYTES_PER_CREATE + BYTES_PER_CODE_UNIT * (pet.name.length + (attempt?.key.length ?? 0));
}
