import type Database from 'better-sqlite3';
import {
  idsNotAccepted,
  type PetTransfer,
  type TransferOptions,
} from '../../application/ports/pet-transfer.ts';
import { iterateUntilAborted } from '../../application/until-aborted.ts';
import { INT64_MAX } from '../../domain/int64.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { ATTRIBUTE_COLUMNS, PET_COLUMNS, valuesOf } from '../storage-kit/pet-rows.ts';
import { idsExhausted } from '../storage-kit/problems.ts';
import { rowDropped } from '../storage-kit/store-errors.ts';
import { type OwnConnection, withOwnConnection } from './own-connection.ts';
import { PARAMETERS, petLister } from './pets.ts';
import type { Reads } from './reads.ts';
import { LAST_ID } from './schema.ts';
import type { Writer } from './writer.ts';

/** Creates a table for the pets of an import. Filling a temporary table requires no lock on the store. */
const STAGE = `PRAGMA temp_store = FILE;
  CREATE TEMP TABLE staged (_place INTEGER PRIMARY KEY, ${ATTRIBUTE_COLUMNS})`;
const ADD = `INSERT INTO staged (_place, ${ATTRIBUTE_COLUMNS}) VALUES (?, ${PARAMETERS})
  ON CONFLICT (_place) DO NOTHING`;
const COPY = `INSERT INTO pets (${ATTRIBUTE_COLUMNS})
  SELECT ${ATTRIBUTE_COLUMNS} FROM staged WHERE _place > ? ORDER BY _place LIMIT ?`;
const COPY_WITH_ID = `INSERT INTO pets (${PET_COLUMNS})
  SELECT _place, ${ATTRIBUTE_COLUMNS} FROM staged WHERE _place > ? ORDER BY _place LIMIT ?`;

const LAST_PET = 'SELECT max(id) FROM pets';
/** The maximum number of rows that one statement copies. Between two statements, the import can be aborted. */
const COPY_SIZE = 20_000;
const EXPORT_SIZE = 250;

export function petTransfer(reads: Reads, writer: Writer): PetTransfer {
  const { db } = reads;
  const list = petLister(db);
  return {
    importPets: (batches, options) =>
      withOwnConnection(writer, (connection) =>
        importAll(connection, iterateUntilAborted(batches, reads.closing), options),
      ),

    /** Exports each pet as it is when its page is read. One transaction over all pages would make the write-ahead log grow. */
    async *exportPets(filter) {
      const last = await reads.read(() => db.prepare<[], bigint | null>(LAST_PET).pluck().get() ?? 0n);
      const read = (after?: bigint) => reads.read(() => list({ ...filter, limit: EXPORT_SIZE, after }, last));
      for (let pets = await read(); pets.length > 0; pets = await read(pets.at(-1)?.id)) yield pets;
    },
  };
}

type Changes = Pick<Database.RunResult, 'changes' | 'lastInsertRowid'>;

/** Fills the temporary table, and then copies it to the store. In a dry run, `batches` throws at its end, before the copying. */
async function importAll(
  connection: OwnConnection,
  batches: AsyncIterable<readonly (NewPet | Pet)[]>,
  { onDuplicateId, onProgress, signal }: TransferOptions,
): Promise<number> {
  await connection.run(STAGE);
  let [withIds, count] = [false, 0];
  for await (const batch of batches) {
    signal?.throwIfAborted();
    const [first] = batch;
    if (first === undefined) continue;
    withIds = 'id' in first;
    if (!withIds || count === 0) await refuseIds(connection, withIds, count + batch.length);
    const rows = batch.map((pet) => ['id' in pet ? pet.id : null, ...valuesOf(pet)]);
    const added = await connection.run<Changes>(ADD, ...rows);
    for (const [index, pet] of batch.entries()) if (added[index]?.changes === 0) onDuplicateId(pet as Pet);
    count += added.filter(({ changes }) => changes > 0).length;
  }

  await connection.begin();
  await refuseIds(connection, withIds, count);
  let copied = 0;
  // Pets without ids have the places 1, 2, 3 and so on in the temporary table, so the next place can be calculated.
  for (let place = 0n; ; ) {
    signal?.throwIfAborted();
    const [copy] = await connection.run<Changes>(withIds ? COPY_WITH_ID : COPY, [place, COPY_SIZE]);
    if (copy === undefined || copy.changes === 0) break;
    const { changes, lastInsertRowid } = copy;
    copied += changes;
    place = withIds ? BigInt(lastInsertRowid) : place + BigInt(COPY_SIZE);
    onProgress?.(copied);
  }
  if (count === 0) onProgress?.(0);
  if (copied !== count) throw rowDropped();
  await connection.commit(copied);
  return copied;
}

/** Refuses pets with ids if the store has ever had a pet. Refuses pets without ids if too few ids are left for them. */
async function refuseIds(connection: OwnConnection, withIds: boolean, count: number): Promise<void> {
  const [lastId = 0n] = await connection.run<bigint>(LAST_ID, []);
  if (withIds && lastId !== 0n) throw idsNotAccepted();
  if (!withIds && INT64_MAX - lastId < count) throw idsExhausted();
}
