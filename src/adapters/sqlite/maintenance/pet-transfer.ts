import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import type { PetQuery } from '../../../application/ports/pet-repository.ts';
import {
  idsNotAccepted,
  type PetTransfer,
  type TransferOptions,
} from '../../../application/ports/pet-transfer.ts';
import { INT64_MIN } from '../../../domain/int64.ts';
import type { NewPet, Pet } from '../../../domain/pet.ts';
import { type PetRow, petOf } from '../read/pet-repository.ts';
import type { ReadSnapshot } from '../read/read-snapshot.ts';
import { type OwnConnection, withOwnConnection } from '../write/own-connection.ts';
import type { Writer } from '../write/writer.ts';

/** Creates a table for the pets of an import. Filling a temporary table requires no lock on the store. */
const STAGE = `
  PRAGMA temp_store = FILE;
  CREATE TEMP TABLE staged (
    place INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    status TEXT NOT NULL
  ) STRICT;
`;
const ADD = `INSERT INTO staged (place, name, category_id, status) VALUES (?, ?, ?, ?)
  ON CONFLICT (place) DO NOTHING`;
const NEXT_PLACE = 'SELECT max(place) FROM (SELECT place FROM staged WHERE place > ? ORDER BY place LIMIT ?)';
const STORE = `INSERT INTO pets (name, category_id, status)
  SELECT name, category_id, status FROM staged WHERE place > ? AND place <= ? ORDER BY place`;
const STORE_WITH_ID = `INSERT INTO pets (id, name, category_id, status)
  SELECT place, name, category_id, status FROM staged WHERE place > ? AND place <= ? ORDER BY place`;

/** SQLite keeps a row in `sqlite_sequence` for every AUTOINCREMENT table that has ever had a row. */
const EVER_HAD_A_PET = `SELECT EXISTS (SELECT 1 FROM pets) OR EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pets')`;

const LAST_ID = 'SELECT max(id) FROM pets';
const EXPORT = 'SELECT id, name, category_id, status FROM pets WHERE id > ? AND id <= ? ORDER BY id LIMIT ?';
const EXPORT_BY_STATUS = EXPORT.replace('WHERE', 'WHERE status = ? AND');

/** The maximum number of rows in one iteration of the event loop. */
const STORE_SIZE = 20_000;
const EXPORT_SIZE = 250;

type Batches = AsyncIterable<readonly (NewPet | Pet)[]>;

/** An import fills a temporary table, and then copies its rows into the store in one transaction. */
export class SqlitePetTransfer implements PetTransfer {
  readonly #db: Database.Database;
  readonly #snapshot: ReadSnapshot;
  readonly #writer: Writer;

  constructor(db: Database.Database, snapshot: ReadSnapshot, writer: Writer) {
    this.#db = db;
    this.#snapshot = snapshot;
    this.#writer = writer;
  }

  importPets(batches: Batches, options: TransferOptions): Promise<number> {
    return withOwnConnection(this.#writer, async (connection) => {
      const withIds = await stage(connection, batches, options);
      return await store(connection, withIds, options);
    });
  }

  /** No pet ever changes, so a snapshot needs no transaction, which would make the write-ahead log grow. */
  async *exportPets({ status }: Pick<PetQuery, 'status'> = {}): AsyncGenerator<readonly Pet[]> {
    const [sql, values] = status === undefined ? [EXPORT, []] : [EXPORT_BY_STATUS, [status]];
    const { last, batch } = await this.#snapshot.read(() => ({
      last: this.#db.prepare(LAST_ID).pluck().get(),
      batch: this.#db.prepare<unknown[], PetRow>(sql).raw(),
    }));
    const read = (after: bigint) =>
      this.#snapshot.read(() => batch.all(...values, after, last, EXPORT_SIZE).map(petOf));
    for (let pets = await read(INT64_MIN); pets.length > 0; pets = await read((pets.at(-1) as Pet).id)) {
      yield pets;
    }
  }
}

/** Fills the temporary table with the pets of all batches. Resolves with whether the pets have ids. */
async function stage(
  connection: OwnConnection,
  batches: Batches,
  { onDuplicateId, signal }: TransferOptions,
): Promise<boolean> {
  const { db } = connection;
  db.exec(STAGE);
  const add = db.prepare(ADD);
  let withIds: boolean | undefined;
  const addAll = db.transaction((batch: readonly (NewPet | Pet)[]) => {
    for (const pet of batch) {
      const { name, categoryId, status } = pet;
      const { changes } = add.run('id' in pet ? pet.id : null, name, categoryId, status);
      if (changes === 0 && 'id' in pet) onDuplicateId(pet);
    }
  });
  for await (const batch of batches) {
    signal?.throwIfAborted();
    connection.assertWritable();
    const [first] = batch;
    if (withIds === undefined && first !== undefined) {
      withIds = 'id' in first;
      if (withIds) refuseIdsInUse(db);
    }
    addAll(batch);
  }
  return withIds ?? false;
}

/** The transaction continues over several iterations of the event loop, so that the abort signal can end it. */
async function store(
  connection: OwnConnection,
  withIds: boolean,
  { onProgress, signal }: TransferOptions,
): Promise<number> {
  const { db } = connection;
  const insert = db.prepare(withIds ? STORE_WITH_ID : STORE);
  const nextPlace = db.prepare<[bigint, number], bigint | null>(NEXT_PLACE).pluck();
  await connection.begin();
  if (withIds) refuseIdsInUse(db);
  let stored = 0;
  for (let place = 0n; ; ) {
    signal?.throwIfAborted();
    connection.assertWritable();
    const next = nextPlace.get(place, STORE_SIZE) ?? null;
    if (next === null) break;
    stored += insert.run(place, next).changes;
    place = next;
    onProgress?.(stored);
    await nextTurn();
  }
  connection.commit(stored);
  return stored;
}

function refuseIdsInUse(db: Database.Database): void {
  if (db.prepare(EVER_HAD_A_PET).pluck().get() === 0n) return;
  throw idsNotAccepted();
}
