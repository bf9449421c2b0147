/** Sends queued writes together in one statement, so that they share a commit and the order lock (`TAKE_ORDER`). */

import { nextTurn } from '../../application/pause.ts';
import type { Observer } from '../../application/ports/observer.ts';
import { closedError } from '../../application/ports/storage.ts';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import type { ConnectionPool, ResultRow, SqlStatement } from './connection-pool.ts';
import { type Faults, isRefusal, storageError, writeError } from './errors.ts';

const STATEMENT_LIMIT = 1000;
const QUEUE_LIMIT = 10_000;
const FULL = 'too many writes wait for the database';

/** A kind of write. One statement can make several writes of the same kind. */
export interface WriteKind<Request, Result> {
  statementFor(requests: readonly Request[]): SqlStatement;
  /** Returns the result of each request. */
  resultsOf(requests: readonly Request[], rows: readonly ResultRow[]): readonly Result[];
  /** Requests that share a name, such as a pet's id, are sent in different statements. */
  namesOf?(request: Request): readonly string[];
}

interface Queued<Request, Result> {
  readonly request: Request;
  readonly deadline: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

export class GroupedWrites {
  readonly #pool: ConnectionPool;
  readonly #faults: Faults;
  readonly #observer: Observer;
  readonly #queues: { readonly queue: readonly unknown[]; send(): Promise<void> }[] = [];
  #sending: Promise<void> | undefined;
  #isClosed = false;

  constructor(pool: ConnectionPool, faults: Faults, observer: Observer) {
    this.#pool = pool;
    this.#faults = faults;
    this.#observer = observer;
  }

  get waiting(): number {
    return this.#queues.reduce((sum, { queue }) => sum + queue.length, 0);
  }

  /** Returns a function that makes a write of this kind. The function rejects with an `AnimalStoreError`. */
  ofKind<Request, Result>(kind: WriteKind<Request, Result>): (request: Request) => Promise<Result> {
    const queue: Queued<Request, Result>[] = [];
    this.#queues.push({ queue, send: () => this.#send(kind, queue) });
    return (request) =>
      new Promise((resolve, reject) => {
        if (this.#isClosed) throw closedError();
        if (this.waiting >= QUEUE_LIMIT) throw new AnimalStoreError('overloaded', FULL);
        queue.push({ request, deadline: performance.now() + this.#pool.waitTimeout, resolve, reject });
        this.#sending ??= this.#sendAll();
      });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#sending;
  }

  async #sendAll(): Promise<void> {
    await nextTurn();
    while (this.waiting > 0) for (const { queue, send } of this.#queues) if (queue.length > 0) await send();
    this.#sending = undefined;
  }

  /** Sends one statement, which includes the writes that arrive before a connection is free. */
  async #send<Request, Result>(
    kind: WriteKind<Request, Result>,
    queue: Queued<Request, Result>[],
  ): Promise<void> {
    let group: readonly Queued<Request, Result>[] | undefined;
    let startedAt = 0;
    const requests = () => (group ?? []).map(({ request }) => request);
    try {
      const rows = await this.#pool.run(() => {
        group ??= this.#take(kind, queue);
        startedAt = performance.now();
        return group.length > 0 ? kind.statementFor(requests()) : undefined;
      });
      if (group?.length === 0) return;
      const results = kind.resultsOf(requests(), rows);
      for (const [index, { resolve }] of (group ?? []).entries()) resolve(results[index] as Result);
      this.#faults.reportSuccess('write');
      this.#observer.onCommit?.({ writes: rows.length, ms: performance.now() - startedAt });
    } catch (error) {
      group ??= this.#take(kind, queue);
      // A write that the database refuses because of a data exception, a constraint or a trigger must not affect the others.
      if (isRefusal(error) && group.length > 1) {
        const half = group.length >> 1;
        await this.#send(kind, group.slice(0, half));
        return await this.#send(kind, group.slice(half));
      }
      this.#faults.reportFailure('write', storageError(error));
      const reason = writeError(error);
      for (const { reject } of group) reject(reason);
    }
  }

  /** Takes the writes of the next statement from the queue. Rejects those that have waited too long. */
  #take<Request, Result>(
    { namesOf }: WriteKind<Request, Result>,
    queue: Queued<Request, Result>[],
  ): readonly Queued<Request, Result>[] {
    const now = performance.now();
    const late = `the database was busy for ${this.#pool.waitTimeout / 1000} s: nothing was stored`;
    const taken: Queued<Request, Result>[] = [];
    const names = new Set<string>();
    const later: Queued<Request, Result>[] = [];
    for (const each of queue.splice(0, STATEMENT_LIMIT)) {
      const own = namesOf?.(each.request) ?? [];
      if (each.deadline <= now) each.reject(storageUnavailable(late));
      else if (own.some((name) => names.has(name))) later.push(each);
      else {
        for (const name of own) names.add(name);
        taken.push(each);
      }
    }
    queue.unshift(...later);
    return taken;
  }
}
