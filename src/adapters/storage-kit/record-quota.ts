/** For a caller that has reached the limit, in milliseconds. */
const RECOUNT_INTERVAL = 60_000;

/** After a count, a caller may store a quarter of the records that are left to it, and at least this number. */
const MIN_ROOM = 1000;

const CALLERS_LIMIT = 10_000;

/** The number of records of a caller. */
export interface RecordCount {
  readonly count: number;
  /** The time of the oldest record; `undefined` when there is no record. */
  readonly oldestAt: number | undefined;
}

interface Room {
  /** How many records the caller may store before its records are counted again. */
  left: number;
  /** The earliest time of the next count, as a value of `performance.now()`. */
  readonly countableAt: number;
  /** The time of the caller's oldest record; `Infinity` when it is unknown. */
  readonly oldestAt: number;
}

/** Either one record may be stored, or the caller has reached its limit. */
export type Reservation = 'reserved' | { readonly oldestAt: number };

/**
 * Limits the number of idempotency records of each caller. Counting takes time, so the records of a caller are counted
 * seldom, and a caller can exceed the limit when several processes use the storage.
 */
export class RecordQuota {
  readonly #perDay: number;
  readonly #countOf: (caller: string) => Promise<RecordCount>;
  readonly #rooms = new Map<string, Room>();
  readonly #counting = new Map<string, Promise<Room>>();

  /** @param perDay how many records a caller may have for each day that records are valid */
  constructor(perDay: number, countOf: (caller: string) => Promise<RecordCount>) {
    this.#perDay = perDay;
    this.#countOf = countOf;
  }

  /** Reserves one record of the caller. Returns a promise when the records have to be counted. */
  reserveRecord(caller: string, days = 1): Reservation | Promise<Reservation> {
    const room = this.#rooms.get(caller);
    if (room !== undefined && (room.left > 0 || performance.now() < room.countableAt))
      return reserveFrom(room);
    let counting = this.#counting.get(caller);
    if (counting === undefined) {
      counting = this.#count(caller, days).finally(() => this.#counting.delete(caller));
      this.#counting.set(caller, counting);
    }
    return counting.then(reserveFrom);
  }

  async #count(caller: string, days: number): Promise<Room> {
    const { count, oldestAt = Infinity } = await this.#countOf(caller);
    const free = Math.max(0, this.#perDay * days - count);
    const room = {
      oldestAt,
      left: Math.min(free, Math.max(MIN_ROOM, Math.floor(free / 4))),
      countableAt: free === 0 ? performance.now() + RECOUNT_INTERVAL : 0,
    };
    if (this.#rooms.size >= CALLERS_LIMIT) this.#rooms.clear();
    this.#rooms.set(caller, room);
    return room;
  }
}

function reserveFrom(room: Room): Reservation {
  if (room.left === 0) return room;
  room.left -= 1;
  return 'reserved';
}
