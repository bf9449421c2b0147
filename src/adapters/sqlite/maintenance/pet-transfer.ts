import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { idsNotAccepted, type PetTransfer } from '../../../application/ports/pet-transfer.ts';
import { INT64_MIN } from '../../../domain/int64.ts';
import type { NewPet, Pet } from '../../../domain/pet.ts';
import { importStaged, type StagingTable } from '../../storage-kit/staged-import.ts';
import { ATTRIBUTE_COLUMNS, COLUMNS, PARAMETERS, type PetRow, petOf, valuesOf } from '../pets.ts';
import type { ReadSnapshot } from '../read-snapshot.ts';
import { type OwnConnection, withOwnConnection } from '../write/own-connection.ts';
import type { Writer } from '../write/writer.ts';

/** Creates a table for the pets of an import. Filling a temporary table requires no lock on the store. */
const STAGE = `PRAGMA temp_store = FILE;
  CREATE TEMP TABLE staged (place INTEGER PRIMARY KEY, ${ATTRIBUTE_COLUMNS})`;
const ADD = `INSERT INTO staged (place, ${ATTRIBUTE_COLUMNS}) VALUES (?, ${PARAMETERS})
  ON CONFLICT (place) DO NOTHING`;
const NEXT_PLACE = 'SELECT max(place) FROM (SELECT place FROM staged WHERE place > ? ORDER BY place LIMIT ?)';
const COPY = `INSERT INTO pets (${ATTRIBUTE_COLUMNS})
  SELECT ${ATTRIBUTE_COLUMNS} FROM staged WHERE place > ? AND place <= ? ORDER BY place`;
const COPY_WITH_ID = `INSERT INTO pets (${COLUMNS})
  SELECT place, ${ATTRIBUTE_COLUMNS} FROM staged WHERE place > ? AND place <= ? ORDER BY place`;

/** SQLite keeps a row in `sqlite_sequence` for every AUTOINCREMENT table that has ever had a row. */
const EVER_HAD_A_PET = `SELECT EXISTS (SELECT 1 FROM pets) OR EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pets')`;

const LAST_PET = 'SELECT max(id) FROM pets';
const EXPORT = `SELECT ${COLUMNS} FROM pets WHERE id > ? AND id <= ? ORDER BY id LIMIT ?`;
const EXPORT_BY_STATUS = EXPORT.replace('WHERE', 'WHERE status = ? AND');

/** The maximum number of rows in one iteration of the event loop. */
const EXPORT_SIZE = 250;

export function petTransfer(db: Database.Database, snapshot: ReadSnapshot, writer: Writer): PetTransfer {
  return {
    importPets: (batches, options) =>
      withOwnConnection(writer, (connection) => importStaged(stagingTable(connection), batches, options)),

    /** No pet ever changes, so a snapshot needs no transaction, which would make the write-ahead log grow. */
    async *exportPets({ status } = {}) {
      const [sql, values] = status === undefined ? [EXPORT, []] : [EXPORT_BY_STATUS, [status]];
      const { last, batch } = await snapshot.read(() => ({
        last: db.prepare(LAST_PET).pluck().get(),
        batch: db.prepare<unknown[], PetRow>(sql).raw(),
      }));
      const read = (after: bigint) =>
        snapshot.read(() => batch.all(...values, after, last, EXPORT_SIZE).map(petOf));
      for (let pets = await read(INT64_MIN); pets.length > 0; pets = await read((pets.at(-1) as Pet).id)) {
        yield pets;
      }
    },
  };
}

function stagingTable(connection: OwnConnection): StagingTable {
  const { db } = connection;
  db.exec(STAGE);
  const add = db.prepare(ADD);
  const addAll = db.transaction((pets: readonly (NewPet | Pet)[]) =>
    pets.filter((pet): pet is Pet => {
      const place = 'id' in pet ? pet.id : null;
      return add.run(place, ...valuesOf(pet)).changes === 0;
    }),
  );
  const [copy, copyWithId] = [db.prepare(COPY), db.prepare(COPY_WITH_ID)];
  const nextPlace = db.prepare<[bigint, number], bigint | null>(NEXT_PLACE).pluck();
  return {
    async stagePets(pets) {
      connection.assertWritable();
      return addAll(pets);
    },
    async refuseIdsInUse() {
      if (db.prepare(EVER_HAD_A_PET).pluck().get() !== 0n) throw idsNotAccepted();
    },
    begin: () => connection.begin(),
    /** The transaction continues over several iterations of the event loop, so that the abort signal can end it. */
    async copyPets(withIds, after, limit) {
      await nextTurn();
      connection.assertWritable();
      const last = nextPlace.get(after, limit) ?? null;
      return last === null ? null : [last, (withIds ? copyWithId : copy).run(after, last).changes];
    },
    async commit(_, count) {
      connection.commit(count);
    },
  };
}
