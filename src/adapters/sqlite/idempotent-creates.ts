import type Database from 'better-sqlite3';
import { DAY, type IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import { exactlyOnce } from '../storage-kit/exactly-once.ts';
import type { RecordCount } from '../storage-kit/record-quota.ts';
import { ADD_PET, COLUMNS, type PetRow, petOf } from './pets.ts';
import type { ReadSnapshot } from './read-snapshot.ts';
import { LAST_ID, PROMISED } from './schema.ts';
import type { Writer } from './write/writer.ts';

/**
 * The pet that {@link ADD_PET} inserts next gets the next id of the AUTOINCREMENT column, or fails if there is none. A
 * record that is no longer valid is replaced.
 */
const ADD_RECORD = `INSERT INTO idempotency_records (caller, key, pet_id, created_at)
  VALUES (?, ?, 1 + min(${INT64_MAX - 1n}, (${LAST_ID})), ?)
  ON CONFLICT DO UPDATE SET pet_id = excluded.pet_id, created_at = excluded.created_at WHERE created_at < ?`;

const FIND = `SELECT ${COLUMNS} FROM pets
  WHERE id = (SELECT pet_id FROM idempotency_records WHERE caller = ? AND key = ? AND created_at >= ?)`;
/** Writes once a day. */
const PROMISE = `INSERT INTO idempotency_promises (days, ends_at) VALUES (?, ?)
  ON CONFLICT DO UPDATE SET ends_at = excluded.ends_at
  WHERE ends_at NOT BETWEEN excluded.ends_at - ${DAY} AND excluded.ends_at`;
const NEXT_CALLER = 'SELECT min(caller) FROM idempotency_records WHERE caller > ?';
const COUNT_STEP = `SELECT count(*), max(key), min(created_at) FROM (
  SELECT key, created_at FROM idempotency_records WHERE caller = ? AND key > ? ORDER BY key LIMIT 10000)`;
const REMOVE = `DELETE FROM idempotency_records WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at < ? ORDER BY created_at LIMIT ?)`;
const REDATE = `UPDATE idempotency_records SET created_at = ? WHERE (caller, key) IN (
  SELECT caller, key FROM idempotency_records WHERE created_at > ? LIMIT ?)`;

/** In milliseconds. */
const COUNT_TIMEOUT = 5000;

type CountedStep = [count: number, lastKey: string | null, oldestAt: number | null];

/** @param perDay the maximum number of records of one caller for each day that records are valid */
export function idempotentCreates(
  db: Database.Database,
  snapshot: ReadSnapshot,
  writer: Writer,
  perDay?: number,
): IdempotentCreates {
  const findRecord = db.prepare<[string, string, number], PetRow>(FIND).raw();
  const countStep = db.prepare<[string, string], CountedStep>(COUNT_STEP).raw().safeIntegers(false);
  const promised = db.prepare<[number], number | null>(PROMISED).pluck().safeIntegers(false);
  const nextCaller = db.prepare<[string], string | null>(NEXT_CALLER).pluck();

  /** Counts in steps, one per iteration of the event loop, so that none takes long. */
  async function countOf(caller: string): Promise<RecordCount> {
    let [count, oldestAt] = [0, Infinity];
    for (let after: string | null = ''; after !== null; ) {
      const from: string = after;
      const step = await snapshot.read(() => countStep.get(caller, from) as CountedStep);
      count += step[0];
      oldestAt = Math.min(oldestAt, step[2] ?? Infinity);
      after = step[1];
    }
    return { count, oldestAt: count === 0 ? undefined : oldestAt };
  }

  return {
    add: exactlyOnce(
      {
        countOf,
        countTimeout: COUNT_TIMEOUT,
        /** Changes nothing when a valid record exists. */
        async claim({ name, categoryId, status }, { caller, key, at, validFrom }) {
          const { rowId, changes } = await writer.storeWrite(
            [ADD_RECORD, caller, key, at, validFrom],
            [ADD_PET, name, categoryId, status],
          );
          return changes === 0 ? undefined : rowId;
        },
        async find({ caller, key, validFrom }) {
          const row = await snapshot.read(() => findRecord.get(caller, key, validFrom));
          return row && petOf(row);
        },
      },
      perDay,
    ),
    async promiseDays(days, now) {
      await writer.storeWrite([PROMISE, days, now + (days + 1) * DAY]);
      return Math.max(days, (await snapshot.read(() => promised.get(now))) ?? 0);
    },
    async count() {
      let records = 0;
      for (let caller: string | null = ''; caller !== null; ) {
        const counted: string = caller;
        records += (await countOf(counted)).count;
        caller = (await snapshot.read(() => nextCaller.get(counted))) ?? null;
      }
      return records;
    },
    removeRecords: async (createdBefore, most) =>
      (await writer.storeWrite([REMOVE, createdBefore, most])).changes,
    redateRecords: async (now, most) => (await writer.storeWrite([REDATE, now, now, most])).changes,
  };
}
