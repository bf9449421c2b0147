import { AnimalStoreError } from '../../domain/errors.ts';
import { BATCH_LIMIT, type Statement, type Value, type Written } from './batch.ts';
import type { Failure } from './findings.ts';
import type { Health } from './health.ts';
import { packUnits, type Reply, unpackOutcomes } from './message.ts';
import { type QueuedUnit, WriteQueue } from './write-queue.ts';
import { WriterHandle } from './writer-handle.ts';

/**
 * The share of a commit's time that the next one waits for the units of callers who were just answered, and the bounds
 * of that wait in milliseconds: what is shorter is not worth a timer.
 */
const GATHER_SHARE = 1 / 4;
const GATHER_MIN = 1;
const GATHER_MAX = 50;

/** How long a batch waits for the lock of another process before its units are looked through again, in milliseconds. */
const LOCK_TIMEOUT = 100;

const NOT_RESPONDING: Failure = {
  code: 'storage_unavailable',
  message: 'the disk does not respond',
  detail: 'the writer thread has not replied in time',
  reason: 'not_responding',
};

/** A batch that the thread commits, or may have committed when it was given up. */
interface Batch {
  readonly units: readonly QueuedUnit[];
  readonly startedAt: number;
  isGivenUp: boolean;
}

/**
 * Group commit. Units that arrive while the thread commits are queued, and share the next transaction and its one fsync;
 * each is settled after the commit that holds it. A thread that died is started again by the next unit.
 */
export class Writer {
  readonly #health: Health;
  readonly #onCommit: () => void;
  readonly #queue = new WriteQueue();
  readonly #thread: WriterHandle;
  #batch: Batch | undefined;
  #isScheduled = false;
  #gathering: { readonly enough: number; readonly timer: NodeJS.Timeout } | undefined;
  #probe: PromiseWithResolvers<void> | undefined;
  #closed: Promise<void> | undefined;
  #whenIdle: (() => void) | undefined;

  /** @param onCommit called before the callers learn of a commit */
  constructor(health: Health, onCommit: () => void) {
    this.#health = health;
    this.#onCommit = onCommit;
    this.#thread = new WriterHandle(health.files, {
      onReply: (reply) => this.#receive(reply),
      onTimeout: () => this.#giveUp(),
      onLost: (cause) => this.#lost(cause),
    });
  }

  /** Starts the thread before the first unit comes, which would have to wait for it. */
  start(): void {
    this.#thread.start();
  }

  /**
   * Runs statements that take effect together or not at all. Resolves, once durable, with what the last one did.
   * A unit whose commit has not begun within 5 seconds is refused then. One whose commit takes longer than 10 seconds
   * is rejected without knowing whether it was stored.
   */
  run(...unit: Statement[]): Promise<Written> {
    if (this.#closed !== undefined) return Promise.reject(unavailable('the storage is closed'));
    const written = this.#queue.add(unit);
    if (this.#gathering !== undefined) {
      if (this.#queue.length >= this.#gathering.enough) this.#commitNext();
    } else if (!this.#isScheduled && this.#batch === undefined) {
      this.#isScheduled = true;
      setImmediate(() => this.#commitNext());
    }
    return written;
  }

  /**
   * Has the thread look at the storage, and see whether writing works again after it did not. Resolves when `health`
   * knows, or when the disk does not respond. While a probe is in flight there is no second one.
   */
  probe(): Promise<void> {
    if (this.#closed !== undefined) return Promise.resolve();
    if (this.#probe === undefined) {
      this.#probe = Promise.withResolvers();
      this.#thread.post({ tryWrite: this.#health.isFaulty('write') && this.#health.syncFault === undefined });
    }
    return this.#probe.promise;
  }

  /** Commits what was accepted, then ends the thread. When the disk hangs, it resolves within 20 seconds all the same. */
  close(): Promise<void> {
    this.#closed ??= this.#drain().then(() => {
      this.#queue.refuseAll(unavailable('the storage is closed'));
      this.#endProbe();
      return this.#thread.stop();
    });
    return this.#closed;
  }

  /** A thread that dies can have brought this on before its scheduled turn, which then finds a commit under way. */
  #commitNext(): void {
    this.#isScheduled = false;
    clearTimeout(this.#gathering?.timer);
    this.#gathering = undefined;
    if (this.#batch !== undefined) return;
    const { syncFault } = this.#health;
    if (syncFault !== undefined) this.#queue.refuseAll(syncFault);
    const units = this.#queue.take(BATCH_LIMIT);
    const [oldest] = units;
    if (oldest === undefined) {
      this.#thread.keepAlive(false);
      this.#whenIdle?.();
      return;
    }
    const startedAt = performance.now();
    const left = Math.max(0, Math.floor(oldest.deadline - startedAt));
    this.#batch = { units, startedAt, isGivenUp: false };
    this.#thread.keepAlive(true);
    this.#thread.post({
      units: packUnits(units.map(({ unit }) => unit)),
      lockTimeout: Math.min(LOCK_TIMEOUT, left),
    });
  }

  #receive({ isProbe, isLocked, findings, outcomes }: Reply): void {
    const batch = this.#batch;
    if (isProbe) this.#endProbe();
    else if (batch !== undefined) {
      this.#batch = undefined;
      this.#onCommit();
      if (isLocked && !batch.isGivenUp) this.#queue.putBack(batch.units);
      else settleUnits(batch.units, outcomes);
    }
    this.#health.apply(this.#health.isFaulty('thread') ? { ...findings, thread: null } : findings);
    if (isProbe || batch === undefined) return;
    if (isLocked) this.#commitNext();
    else this.#gather(batch);
  }

  /**
   * On a slow disk callers would fall into two halves, each waiting while the other commits. So those who wait give
   * the others a moment to come back, until as many are there as can be expected: then all share one commit.
   */
  #gather({ units, startedAt }: Batch): void {
    const queued = this.#queue.length;
    const enough = Math.min(queued + units.length, BATCH_LIMIT);
    const time = Math.min((performance.now() - startedAt) * GATHER_SHARE, GATHER_MAX);
    if (queued === 0 || queued >= enough || time < GATHER_MIN) this.#commitNext();
    else this.#gathering = { enough, timer: setTimeout(() => this.#commitNext(), time) };
  }

  /** Callers are told; the thread stays, since a call into a disk that hangs cannot be ended. */
  #giveUp(): void {
    this.#health.apply({ thread: NOT_RESPONDING });
    this.#probe?.resolve();
    if (this.#batch === undefined) return;
    this.#batch.isGivenUp = true;
    rejectAll(
      this.#batch.units,
      unavailable(`${NOT_RESPONDING.message}: whether this was stored is unknown`),
    );
    this.#whenIdle?.();
  }

  #lost(cause: unknown): void {
    const { units } = this.#batch ?? { units: [] };
    this.#batch = undefined;
    this.#endProbe();
    this.#health.apply({ thread: null });
    rejectAll(
      units,
      unavailable('the thread that writes has ended: whether this was stored is unknown', cause),
    );
    this.#commitNext();
  }

  #endProbe(): void {
    this.#probe?.resolve();
    this.#probe = undefined;
  }

  /** What is queued behind a batch that was given up cannot be finished. */
  #drain(): Promise<void> {
    if (this.#batch?.isGivenUp || (this.#batch === undefined && this.#queue.length === 0)) {
      return Promise.resolve();
    }
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
    });
  }
}

function settleUnits(units: readonly QueuedUnit[], values: readonly Value[]): void {
  const outcomes = unpackOutcomes(values);
  for (const [index, { resolve, reject }] of units.entries()) {
    const outcome = outcomes[index];
    if (outcome === undefined) continue;
    if ('code' in outcome) {
      reject(new AnimalStoreError(outcome.code, outcome.message, { cause: outcome.detail }));
    } else {
      resolve(outcome);
    }
  }
}

function rejectAll(units: readonly QueuedUnit[], error: AnimalStoreError): void {
  for (const { reject } of units) reject(error);
}

function unavailable(message: string, cause?: unknown): AnimalStoreError {
  return new AnimalStoreError('storage_unavailable', message, { cause });
}
