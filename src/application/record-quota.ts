/** The time until the records of a caller that has reached the limit are counted again, in milliseconds. */
const RECOUNT_INTERVAL = 60_000;

/**
 * After a count, a caller may store a quarter of the records that are left to it, and at least this number, before its
 * records are counted again.
 */
const MIN_ROOM = 1000;

/** The maximum number of callers for which the result of the last count is kept. */
const CALLERS_LIMIT = 10_000;

/** The result of the last count of a caller's records. */
interface Room {
  /** How many records the caller may store before its records are counted again. */
  left: number;
  /** The earliest time of the next count, as a value of `performance.now()`. */
  readonly countableAt: number;
}

/**
 * Limits the number of idempotency records of each caller, in a storage in which counting takes time. The records of a
 * caller are counted seldom, so a caller can exceed the limit when several processes use the storage.
 */
export class RecordQuota {
  readonly #limit: number;
  readonly #countOf: (caller: string) => Promise<number>;
  readonly #rooms = new Map<string, Room>();
  readonly #counting = new Map<string, Promise<Room>>();

  /**
   * @param limit the maximum number of records of one caller
   * @param countOf resolves with the number of records of a caller
   */
  constructor(limit: number, countOf: (caller: string) => Promise<number>) {
    this.#limit = limit;
    this.#countOf = countOf;
  }

  /** Whether the caller may store one more record. Returns a promise when the records have to be counted. */
  take(caller: string): boolean | Promise<boolean> {
    const room = this.#rooms.get(caller);
    if (room !== undefined && (room.left > 0 || performance.now() < room.countableAt)) return takeFrom(room);
    let counting = this.#counting.get(caller);
    if (counting === undefined) {
      counting = this.#count(caller).finally(() => this.#counting.delete(caller));
      this.#counting.set(caller, counting);
    }
    return counting.then(takeFrom);
  }

  async #count(caller: string): Promise<Room> {
    const free = Math.max(0, this.#limit - (await this.#countOf(caller)));
    const room = {
      left: Math.min(free, Math.max(MIN_ROOM, Math.floor(free / 4))),
      countableAt: free === 0 ? performance.now() + RECOUNT_INTERVAL : 0,
    };
    if (this.#rooms.size >= CALLERS_LIMIT) this.#rooms.clear();
    this.#rooms.set(caller, room);
    return room;
  }
}

function takeFrom(room: Room): boolean {
  if (room.left === 0) return false;
  room.left -= 1;
  return true;
}
