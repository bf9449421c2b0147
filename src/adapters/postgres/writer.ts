import { setTimeout as delay } from 'node:timers/promises';
import type { CreateAttempt } from '../../application/ports/idempotent-creates.ts';
import type { Observer } from '../../application/ports/observer.ts';
import { closedError } from '../../application/ports/storage.ts';
import type { NewPet } from '../../domain/pet.ts';
import type { Connections, Outcome } from './connections.ts';
import {
  type Added,
  type Create,
  type CreateCall,
  settle,
  statementOf,
  withDifferentKeys,
} from './create-statements.ts';
import { isLockTimeout, isRowError, isSerializationFailure, outcomeUnknown, storageError } from './errors.ts';
import { Gathering } from './gathering.ts';
import type { Health } from './health.ts';
import { WaitingCalls } from './waiting-calls.ts';

/** The maximum number of creates in one statement. */
const LIMIT = 1000;

/** The pause before a transaction is repeated, in milliseconds. */
const REPEAT_PAUSE = 10;

/** Creates without and with a key, which are stored by different statements, on different connections. */
type Kind = 'creates' | 'claims';

/** The connections of a writer. */
export interface WriterConnections {
  readonly creates: Connections;
  /** Their statements end with an error when they wait for a lock for longer than a few milliseconds. */
  readonly claims: Connections;
  /** For claims that wait for a lock. */
  readonly others: Connections;
}

/** The creates of one kind, which are sent one group after another. */
interface Lane {
  readonly gathering: Gathering;
  lastCount: number;
  /** Set while groups are sent. */
  running: Promise<void> | undefined;
}

/**
 * Stores pets with group commit: creates that arrive while other creates are in flight are sent together, in one
 * statement. A create that arrives alone is sent at once. A claim that waits until another server commits is sent again
 * alone, so that it delays no other create.
 */
export class Writer {
  readonly #connections: WriterConnections;
  readonly #health: Health;
  readonly #observer: Observer;
  readonly #calls: WaitingCalls<Create, Added>;
  readonly #lanes: Record<Kind, Lane> = { creates: newLane(), claims: newLane() };
  /** The claims that are sent alone. */
  readonly #alone = new Set<Promise<void>>();
  #isClosed = false;

  constructor(connections: WriterConnections, health: Health, observer: Observer) {
    this.#connections = connections;
    this.#health = health;
    this.#observer = observer;
    this.#calls = new WaitingCalls(connections.creates.waitTimeout);
  }

  /** Stores a pet, and resolves with its id. */
  storePet(pet: NewPet): Promise<bigint> {
    return this.#addCall('creates', { pet, attempt: undefined }) as Promise<bigint>;
  }

  /** Stores a pet and the record of its key. Resolves with `undefined` when the key has a valid record. */
  storePetOnce(pet: NewPet, attempt: CreateAttempt): Promise<Added> {
    return this.#addCall('claims', { pet, attempt });
  }

  /** The number of creates that wait for other creates. */
  get waiting(): number {
    return this.#calls.count;
  }

  /** Resolves when all accepted creates are completed. Further creates are refused. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { gathering } of Object.values(this.#lanes)) gathering.end();
    await Promise.all(Object.values(this.#lanes).map(({ running }) => running));
    await Promise.all(this.#alone);
  }

  #addCall(kind: Kind, { pet: { name, categoryId, status }, attempt }: Create): Promise<Added> {
    if (this.#isClosed) return Promise.reject(closedError());
    const lane = this.#lanes[kind];
    const result = this.#calls.addCall(kind, { pet: { name, categoryId, status }, attempt });
    lane.gathering.added(this.#calls.countOf(kind));
    lane.running ??= this.#sendAll(kind, lane);
    return result;
  }

  /** After a group of several creates, the next group begins at the end of the turn, because more are likely to follow. */
  async #sendAll(kind: Kind, lane: Lane): Promise<void> {
    if (lane.lastCount > 1) await new Promise((resolve) => setImmediate(resolve));
    while (this.#calls.countOf(kind) > 0) {
      const calls = this.#calls.takeCalls(kind, LIMIT);
      const startedAt = performance.now();
      try {
        await (kind === 'creates' ? this.#send(kind, calls) : this.#sendClaims(calls));
      } catch (error) {
        // A defect of this program. A call that has a result is not changed by this.
        for (const { reject } of calls) reject(error);
      }
      lane.lastCount = calls.length;
      const last = { count: calls.length, ms: performance.now() - startedAt };
      await lane.gathering.wait(last, this.#calls.countOf(kind), LIMIT);
    }
    lane.running = undefined;
  }

  async #sendClaims(calls: readonly CreateCall[]): Promise<void> {
    const { now, later } = withDifferentKeys(calls);
    await this.#send('claims', now);
    this.#calls.putBack(later);
  }

  async #send(kind: Kind | 'others', group: readonly CreateCall[]): Promise<void> {
    const startedAt = performance.now();
    const outcome = await this.#connections[kind].run(statementOf(group));
    if ('rows' in outcome) {
      this.#health.succeeded('write');
      settle(group, outcome.rows);
      this.#observer.onCommit?.({ writes: group.length, ms: performance.now() - startedAt });
    } else await this.#fail(kind, group, outcome);
  }

  /** Halves a group with a pet that the database refuses, until this pet fails alone. */
  async #fail(
    kind: Kind | 'others',
    group: readonly CreateCall[],
    { error, isUnknown }: Extract<Outcome, { error: unknown }>,
  ): Promise<void> {
    const half = Math.ceil(group.length / 2);
    if (kind === 'claims' && isLockTimeout(error)) for (const call of group) this.#sendAlone(call);
    else if (isSerializationFailure(error)) await this.#repeat(group, error);
    else if (isRowError(error) && group.length > 1) {
      await this.#send(kind, group.slice(0, half));
      await this.#send(kind, group.slice(half));
    } else {
      this.#health.failed('write', error);
      const reason = isUnknown ? outcomeUnknown(error) : storageError(error);
      for (const { reject } of group) reject(reason);
    }
  }

  #sendAlone(call: CreateCall): void {
    const sending = this.#send('others', [call]).finally(() => this.#alone.delete(sending));
    this.#alone.add(sending);
  }

  /** Puts the creates back, except for those whose deadline has passed. */
  async #repeat(group: readonly CreateCall[], error: unknown): Promise<void> {
    await delay(REPEAT_PAUSE);
    const now = performance.now();
    for (const { deadline, reject } of group) if (deadline <= now) reject(storageError(error));
    this.#calls.putBack(group.filter(({ deadline }) => deadline > now));
  }
}

function newLane(): Lane {
  return { gathering: new Gathering(), lastCount: 0, running: undefined };
}
