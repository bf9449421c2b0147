/** Changes and removes pets in SQLite. Each change and the check of its revision share a transaction of the writer. */

import type Database from 'better-sqlite3';
import type { PetChanges, PetVersion } from '../../application/ports/pet-changes.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import type { Pet } from '../../domain/pet.ts';
import {
  changesPage,
  EXAMINED_LIMIT,
  lastRevisionOf,
  listedVersion,
  versionOf,
} from '../storage-kit/changes-page.ts';
import { PET_COLUMNS, type PetRow, petOf } from '../storage-kit/pet-rows.ts';
import { idsExhausted } from '../storage-kit/problems.ts';
import { replacePet } from './pets.ts';
import type { Reads } from './reads.ts';
import { BEGIN_EPOCH, LAST_ID, lastIdOf } from './schema.ts';
import type { Writer } from './writer.ts';
import type { SqlStatement, Write } from './writer-thread.ts';

const REVISION = 'coalesce((SELECT revision FROM pet_revisions WHERE pet_id = pets.id), pets.id)';
/** The condition that a pet exists and has the expected revision. */
export const IS_EXPECTED: string = `? = (SELECT ${REVISION} FROM pets WHERE id = ?)`;
/** Increments the counter of ids up to `INT64_MAX`. Above it, SQLite would store `seq` as a float. */
const TAKE_NUMBER = `UPDATE sqlite_sequence SET seq = 1 + (${LAST_ID}) WHERE name = 'pets' AND (${LAST_ID}) < ${INT64_MAX}`;
const ARE_EXHAUSTED = `SELECT 1 WHERE (${LAST_ID}) = ${INT64_MAX}`;
const REMOVE = 'DELETE FROM pets WHERE id = ?';
/** The last statement of each change. Its row id is the new revision. */
const SET_REVISION = `INSERT OR REPLACE INTO pet_revisions (revision, pet_id)
  SELECT seq, ? FROM sqlite_sequence WHERE name = 'pets'`;

const FIND = `SELECT (SELECT revision FROM pet_revisions WHERE pet_id = _id), ${PET_COLUMNS} FROM (SELECT ? AS _id) LEFT JOIN pets ON id = _id`;
const LIST_CHANGED = `SELECT revision, _id, ${PET_COLUMNS} FROM (SELECT revision, pet_id AS _id FROM pet_revisions) LEFT JOIN pets ON id = _id
  WHERE revision > ? ORDER BY revision LIMIT ?`;
const EXAMINED = `SELECT * FROM pets WHERE id > ? AND id <= ? ORDER BY id LIMIT ${EXAMINED_LIMIT}`;
const LIST_UNCHANGED = `SELECT ${PET_COLUMNS} FROM (${EXAMINED}) AS pets
  WHERE NOT EXISTS (SELECT 1 FROM pet_revisions WHERE pet_id = pets.id) ORDER BY id LIMIT ?`;
const LAST_EXAMINED = `SELECT id FROM pets WHERE id > ? AND id <= ? ORDER BY id LIMIT 1 OFFSET ${EXAMINED_LIMIT - 1}`;
const EPOCH = 'SELECT value FROM epoch';

/** Returns the statements that change or remove a pet. */
export function setPet(id: bigint, pet: Pet | undefined): readonly SqlStatement[] {
  return [pet === undefined ? [REMOVE, id] : replacePet(pet), [SET_REVISION, id]];
}

/** Returns a function that finds the newest version of a pet, and that must be called within `Reads.read`. */
export function versionFinder(db: Database.Database): (id: bigint) => PetVersion | undefined {
  const find = db.prepare<[bigint], PetRow>(FIND).raw();
  return (id) => versionOf(find.get(id) as PetRow);
}

/** Stores a write if a condition is met. Resolves with the new revision, or with `undefined` if the condition is not met. */
export async function storeIf(
  [condition, ...values]: SqlStatement,
  write: Write,
  reads: Reads,
  writer: Writer,
): Promise<bigint | undefined> {
  const take: SqlStatement = [`${TAKE_NUMBER} AND ${condition}`, ...values];
  const { changes, rowId } = await writer.storeWrite(take, ...write);
  if (changes > 0) return rowId;
  const isMet = () => reads.db.prepare(`${ARE_EXHAUSTED} AND ${condition}`).get(...values) !== undefined;
  if (await reads.read(isMet)) throw idsExhausted();
  return undefined;
}

export function petChanges(reads: Reads, writer: Writer): PetChanges {
  const { db } = reads;
  const findVersion = versionFinder(db);
  const listChanged = db.prepare<[bigint, number], PetRow>(LIST_CHANGED).raw();
  const listUnchanged = db.prepare<[bigint, bigint, number], PetRow>(LIST_UNCHANGED).raw();
  const lastExamined = db.prepare<[bigint, bigint], bigint>(LAST_EXAMINED).pluck();
  const readEpoch = db.prepare<[], string>(EPOCH).pluck();
  const write = (id: bigint, pet: Pet | undefined, expected: bigint): Promise<bigint | undefined> =>
    storeIf([IS_EXPECTED, expected, id], setPet(id, pet), reads, writer);

  return {
    find: (id) => reads.read(() => findVersion(id)),
    replace: (pet, expected) => write(pet.id, pet, expected),
    remove: (id, expected) => write(id, undefined, expected),
    list: ({ after = 0n, limit }) =>
      reads.read(() => {
        const changed = listChanged.all(after, limit + 1).map(listedVersion);
        const last = lastRevisionOf(changed, limit) ?? INT64_MAX;
        const unchanged = listUnchanged.all(after, last, limit + 1).map(petOf);
        const examinedUpTo = unchanged.length > limit ? undefined : lastExamined.get(after, last);
        const [epoch = '', lastNumber] = [readEpoch.get(), lastIdOf(db)];
        return changesPage({ after, limit, changed, unchanged, examinedUpTo, epoch, lastNumber });
      }),
    async beginEpoch() {
      await writer.storeWrite([BEGIN_EPOCH]);
    },
  };
}
