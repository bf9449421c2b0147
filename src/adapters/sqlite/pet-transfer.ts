/** Imports and exports in SQLite. */

import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import {
  idsNotAccepted,
  type PetTransfer,
  type TransferOptions,
} from '../../application/ports/pet-transfer.ts';
import { INT64_MAX, INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { idsExhausted } from '../storage-kit/ids-left.ts';
import { ATTRIBUTE_COLUMNS, PET_COLUMNS, type PetRow, petOf, valuesOf } from '../storage-kit/pet-rows.ts';
import { type OwnConnection, withOwnConnection } from './own-connection.ts';
import { PARAMETERS } from './pets.ts';
import type { Reads } from './reads.ts';
import { lastIdOf } from './schema.ts';
import type { Writer } from './writer.ts';

/** Creates a table for the pets of an import. Filling a temporary table requires no lock on the store. */
const STAGE = `PRAGMA temp_store = FILE;
  CREATE TEMP TABLE staged (place INTEGER PRIMARY KEY, ${ATTRIBUTE_COLUMNS})`;
const ADD = `INSERT INTO staged (place, ${ATTRIBUTE_COLUMNS}) VALUES (?, ${PARAMETERS})
  ON CONFLICT (place) DO NOTHING`;
const COPY = `INSERT INTO pets (${ATTRIBUTE_COLUMNS})
  SELECT ${ATTRIBUTE_COLUMNS} FROM staged WHERE place > ? ORDER BY place LIMIT ?`;
const COPY_WITH_ID = `INSERT INTO pets (${PET_COLUMNS})
  SELECT place, ${ATTRIBUTE_COLUMNS} FROM staged WHERE place > ? ORDER BY place LIMIT ?`;

const LAST_PET = 'SELECT max(id) FROM pets';
const EXPORT = `SELECT ${PET_COLUMNS} FROM pets WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`;
const EXPORT_BY_STATUS = EXPORT.replace('WHERE', 'WHERE status = ? AND');
/** The maximum number of rows in one iteration of the event loop. */
const COPY_SIZE = 20_000;
const EXPORT_SIZE = 250;

export function petTransfer(db: Database.Database, reads: Reads, writer: Writer): PetTransfer {
  return {
    importPets: (batches, options) =>
      withOwnConnection(writer, (connection) => importAll(connection, batches, options)),

    /** No pet ever changes, so a snapshot needs no transaction, which would make the write-ahead log grow. */
    async *exportPets({ status } = {}) {
      const [sql, values] = status === undefined ? [EXPORT, []] : [EXPORT_BY_STATUS, [status]];
      const { last, batch } = await reads.read(() => ({
        last: db.prepare(LAST_PET).pluck().get(),
        batch: db.prepare<unknown[], PetRow>(sql).raw(),
      }));
      const read = (after: bigint) =>
        reads.read(() => batch.all(...values, after, last, EXPORT_SIZE).map(petOf));
      for (let pets = await read(INT64_MIN); pets.length > 0; pets = await read((pets.at(-1) as Pet).id)) {
        yield pets;
      }
    },
  };
}

/** Stages what can be imported, so that a dry run says the same as an import, and then copies it. */
async function importAll(
  connection: OwnConnection,
  batches: AsyncIterable<readonly (NewPet | Pet)[]>,
  { onDuplicateId, onProgress, signal }: TransferOptions,
): Promise<number> {
  const { db } = connection;
  db.exec(STAGE);
  const add = db.prepare(ADD);
  const addAll = db.transaction((pets: readonly (NewPet | Pet)[]) =>
    pets.filter((pet): pet is Pet => add.run('id' in pet ? pet.id : null, ...valuesOf(pet)).changes === 0),
  );
  let [withIds, count] = [false, 0];
  for await (const batch of batches) {
    signal?.throwIfAborted();
    connection.assertWritable();
    const [first] = batch;
    if (first === undefined) continue;
    withIds = 'id' in first;
    if (!withIds || count === 0) refuseIds(db, withIds, count + batch.length);
    for (const pet of addAll(batch)) onDuplicateId(pet);
    count += batch.length;
  }

  const copy = db.prepare(withIds ? COPY_WITH_ID : COPY);
  await connection.begin();
  refuseIds(db, withIds, count);
  let copied = 0;
  // Without ids, the places are 1 and so on.
  for (let place = INT64_MIN; ; ) {
    // The transaction continues over several iterations of the event loop, so that the signal can end it.
    await nextTurn();
    signal?.throwIfAborted();
    connection.assertWritable();
    const { changes, lastInsertRowid } = copy.run(place, COPY_SIZE);
    if (changes === 0) break;
    copied += changes;
    place = withIds ? BigInt(lastInsertRowid) : BigInt(copied);
    onProgress?.(copied);
  }
  connection.commit(copied);
  return copied;
}

/** Refuses ids in a store that has ever had a pet, and more pets without ids than the store has ids left. */
function refuseIds(db: Database.Database, withIds: boolean, count: number): void {
  const lastId = lastIdOf(db);
  if (withIds && lastId !== 0n) throw idsNotAccepted();
  if (!withIds && INT64_MAX - lastId < count) throw idsExhausted();
}
