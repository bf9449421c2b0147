import { AnimalStoreError } from '../../domain/errors.ts';

/** The maximum number of waiting calls. */
const LIMIT = 10_000;

/** A call that waits until it is sent to the database, and then until the response arrives. */
export interface Call<T, R> {
  readonly item: T;
  /** The calls of a group can be sent as one statement. */
  readonly group: string;
  readonly deadline: number;
  /** Whether the call was sent before, without a result. */
  wasSent?: boolean;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

/** The calls that wait for a connection, in groups. A call that is not sent before its deadline is rejected. */
export class WaitingCalls<T, R> {
  readonly #timeout: number;
  /** The groups, in the order in which they are sent. No group is empty. */
  readonly #groups = new Map<string, Call<T, R>[]>();
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param timeout how long a call may wait until it is sent, in milliseconds */
  constructor(timeout: number) {
    this.#timeout = timeout;
  }

  get count(): number {
    return this.#count;
  }

  countOf(group: string): number {
    return this.#groups.get(group)?.length ?? 0;
  }

  /** Returns the group to send next, of those that may be sent; `undefined` when there is none. */
  nextGroup(maySend: (group: string) => boolean = () => true): string | undefined {
    for (const group of this.#groups.keys()) if (maySend(group)) return group;
    return undefined;
  }

  /** Adds a call. Rejects with `overloaded` when too many calls are waiting. */
  addCall(group: string, item: T): Promise<R> {
    if (this.#count >= LIMIT) {
      return Promise.reject(new AnimalStoreError('overloaded', 'too many calls wait for the database'));
    }
    return new Promise((resolve, reject) => {
      const deadline = performance.now() + this.#timeout;
      this.putBack([{ item, group, deadline, resolve, reject }]);
    });
  }

  /** Adds calls that were removed before, at the end of their groups. */
  putBack(calls: readonly Call<T, R>[]): void {
    for (const call of calls) {
      const waiting = this.#groups.get(call.group);
      if (waiting === undefined) this.#groups.set(call.group, [call]);
      else waiting.push(call);
    }
    this.#count += calls.length;
    if (this.#timer === undefined && this.#count > 0) this.#startTimer(this.#timeout);
  }

  /** Removes and returns the oldest calls of a group, at most `limit`. The rest of the group is sent after the other groups. */
  takeCalls(group: string, limit: number): Call<T, R>[] {
    const waiting = this.#groups.get(group) ?? [];
    this.#groups.delete(group);
    const taken = waiting.length <= limit ? waiting : waiting.splice(0, limit);
    if (taken !== waiting) this.#groups.set(group, waiting);
    this.#count -= taken.length;
    return taken;
  }

  rejectAll(error: AnimalStoreError): void {
    for (const group of [...this.#groups.keys()]) {
      for (const { reject } of this.takeCalls(group, LIMIT)) reject(error);
    }
  }

  /** The timer continues to run when the calls are sent earlier, because this does no harm. */
  #startTimer(time: number): void {
    this.#timer = setTimeout(() => {
      const now = performance.now();
      this.#rejectLate(now);
      const next = Math.min(...[...this.#groups.values()].flat().map(({ deadline }) => deadline));
      if (Number.isFinite(next)) this.#startTimer(Math.max(1, Math.ceil(next - now)));
      else this.#timer = undefined;
    }, time).unref();
  }

  #rejectLate(now: number): void {
    for (const [group, waiting] of [...this.#groups]) {
      const late = waiting.filter(({ deadline }) => deadline <= now);
      if (late.length === 0) continue;
      this.takeCalls(group, waiting.length);
      this.putBack(waiting.filter(({ deadline }) => deadline > now));
      for (const { reject } of late) {
        const message = `the database was busy for ${this.#timeout / 1000} s: the call had no effect`;
        reject(new AnimalStoreError('storage_unavailable', message));
      }
    }
  }
}
