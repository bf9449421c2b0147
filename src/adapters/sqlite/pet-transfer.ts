import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import { idsNotAccepted } from '../../application/import-pets.ts';
import type { PetQuery } from '../../application/ports/pet-repository.ts';
import type { PetTransfer, TransferOptions } from '../../application/ports/pet-transfer.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet, PetStatus } from '../../domain/pet.ts';
import { openReader, openWriter } from './database.ts';
import { translated } from './errors.ts';
import { failureOf } from './findings.ts';
import type { Health } from './health.ts';
import type { Owner } from './own-transaction.ts';
import { assertSameFiles } from './store-files.ts';

/**
 * The SQL that creates a temporary table for the pets of an import. SQLite deletes the file of the temporary table when
 * the connection is closed. Filling the temporary table requires no lock on the store.
 */
const STAGE = `
  PRAGMA temp_store = FILE;
  CREATE TEMP TABLE staged (
    place INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL,
    status TEXT NOT NULL
  ) STRICT;
`;
const ADD = 'INSERT INTO staged (name, category_id, status) VALUES (?, ?, ?)';
const ADD_WITH_ID = 'INSERT OR IGNORE INTO staged (place, name, category_id, status) VALUES (?, ?, ?, ?)';
const NEXT_PLACE = 'SELECT max(place) FROM (SELECT place FROM staged WHERE place > ? ORDER BY place LIMIT ?)';
const STORE = `INSERT INTO pets (name, category_id, status)
  SELECT name, category_id, status FROM staged WHERE place > ? AND place <= ? ORDER BY place`;
const STORE_WITH_ID = `INSERT INTO pets (id, name, category_id, status)
  SELECT place, name, category_id, status FROM staged WHERE place > ? AND place <= ? ORDER BY place`;

/**
 * The SQL that returns whether the store has ever had a pet. SQLite keeps a row in `sqlite_sequence` for every
 * AUTOINCREMENT table that has ever had a row.
 */
const EVER_HAD_A_PET = `SELECT EXISTS (SELECT 1 FROM pets) OR EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pets')`;

const LAST_ID = 'SELECT max(id) FROM pets';
const EXPORT = 'SELECT id, name, category_id, status FROM pets WHERE id > ? AND id <= ? ORDER BY id LIMIT ?';
const EXPORT_BY_STATUS =
  'SELECT id, name, category_id, status FROM pets WHERE status = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?';

/** The maximum number of rows that an import stores, or an export reads, in one iteration of the event loop. */
const STORE_SIZE = 20_000;
const EXPORT_SIZE = 250;

type Batches = AsyncIterable<readonly (NewPet | Pet)[]>;

type Row = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus];

/**
 * Imports and exports pets in bulk. Each call opens its own connection. An import first fills a temporary table, and
 * then copies the rows of the temporary table into the store in one transaction.
 */
export class SqlitePetTransfer implements PetTransfer {
  readonly #path: string;
  readonly #health: Health;
  readonly #owner: Owner;

  constructor(path: string, health: Health, owner: Owner) {
    this.#path = path;
    this.#health = health;
    this.#owner = owner;
  }

  async importPets(batches: Batches, options: TransferOptions): Promise<number> {
    this.#owner.assertOpen();
    // Check before opening that the path leads to the file of the store, because SQLite could change or create another
    // file at this path. Check again after opening, because the file could have been replaced in the meantime.
    assertSameFiles(this.#health.files);
    const db = openWriter(this.#path);
    try {
      assertSameFiles(this.#health.files);
      const assertWritable = () => this.#assertWritable();
      const withIds = await stage(db, batches, options, assertWritable);
      const startedAt = performance.now();
      const writes = await store(db, withIds, options, assertWritable);
      assertSameFiles(this.#health.files);
      this.#owner.onCommit({ writes, ms: performance.now() - startedAt });
      return writes;
    } catch (error) {
      this.#reportSyncFault(error);
      throw translated(error);
    } finally {
      db.close();
    }
  }

  #assertWritable(): void {
    this.#owner.assertOpen();
    if (this.#health.syncFault !== undefined) throw this.#health.syncFault;
  }

  /**
   * Reports a failed fsync to `health`. Other failures are not reported, because they can be failures of the temporary
   * table. The temporary table can be on another disk.
   */
  #reportSyncFault(error: unknown): void {
    const failure = failureOf(error);
    if (failure.reason === 'sync_failed') this.#health.apply({ write: failure });
  }

  /**
   * Exports only the pets that existed at the start of the export. Later pets are recognized by their greater ids. No
   * pet is ever changed or deleted, so the exported pets are a snapshot. No transaction is open between two batches. An
   * open transaction would make the write-ahead log grow while the consumer processes a batch.
   */
  async *exportPets({ status }: Pick<PetQuery, 'status'> = {}): AsyncGenerator<readonly Pet[]> {
    this.#owner.assertOpen();
    const db = openReader(this.#path);
    try {
      const read = reader(db, status);
      for (let pets = read(INT64_MIN); pets.length > 0; await nextTurn()) {
        yield pets;
        this.#owner.assertOpen();
        pets = read((pets.at(-1) as Pet).id);
      }
    } catch (error) {
      throw translated(error);
    } finally {
      db.close();
    }
  }
}

/**
 * Fills the temporary table with the pets of all batches. Resolves with `true` when the pets have ids, and with `false`
 * otherwise.
 */
async function stage(
  db: Database.Database,
  batches: Batches,
  { onDuplicateId, signal }: TransferOptions,
  assertWritable: () => void,
): Promise<boolean> {
  db.exec(STAGE);
  const add = db.prepare(ADD);
  const addWithId = db.prepare(ADD_WITH_ID);
  let withIds: boolean | undefined;
  const addAll = db.transaction((batch: readonly (NewPet | Pet)[]) => {
    for (const pet of batch) {
      const { name, categoryId, status } = pet;
      if (!('id' in pet)) add.run(name, categoryId, status);
      else if (addWithId.run(pet.id, name, categoryId, status).changes === 0) onDuplicateId(pet);
    }
  });
  for await (const batch of batches) {
    signal?.throwIfAborted();
    assertWritable();
    const [first] = batch;
    if (withIds === undefined && first !== undefined) {
      withIds = 'id' in first;
      if (withIds) refuseIdsInUse(db);
    }
    addAll(batch);
  }
  return withIds ?? false;
}

/**
 * Copies the rows of the temporary table into the store, and resolves with their number. The transaction continues over
 * several iterations of the event loop, so that the abort signal can end it. When this function rejects, the caller
 * closes the connection, and SQLite rolls back the transaction.
 */
async function store(
  db: Database.Database,
  withIds: boolean,
  { onProgress, signal }: TransferOptions,
  assertWritable: () => void,
): Promise<number> {
  const insert = db.prepare(withIds ? STORE_WITH_ID : STORE);
  const nextPlace = db.prepare<[bigint, number], bigint | null>(NEXT_PLACE).pluck();
  db.exec('BEGIN IMMEDIATE');
  if (withIds) refuseIdsInUse(db);
  let stored = 0;
  for (let place = 0n; ; ) {
    signal?.throwIfAborted();
    assertWritable();
    const next = nextPlace.get(place, STORE_SIZE) ?? null;
    if (next === null) break;
    stored += insert.run(place, next).changes;
    place = next;
    onProgress?.(stored);
    await nextTurn();
  }
  db.exec('COMMIT');
  return stored;
}

function refuseIdsInUse(db: Database.Database): void {
  if (db.prepare(EVER_HAD_A_PET).pluck().get() === 0n) return;
  throw idsNotAccepted();
}

/**
 * Returns a function that reads the next batch of pets: the pets with ids greater than its argument. A pet that is
 * added after the call of `reader` is in no batch.
 */
function reader(db: Database.Database, status: PetStatus | undefined): (after: bigint) => readonly Pet[] {
  const last = db.prepare<[], bigint | null>(LAST_ID).pluck().get() ?? null;
  if (status === undefined) {
    const statement = db.prepare<[bigint, bigint | null, number], Row>(EXPORT).raw();
    return (after) => statement.all(after, last, EXPORT_SIZE).map(petOf);
  }
  const statement = db.prepare<[PetStatus, bigint, bigint | null, number], Row>(EXPORT_BY_STATUS).raw();
  return (after) => statement.all(status, after, last, EXPORT_SIZE).map(petOf);
}

function petOf([id, name, categoryId, status]: Row): Pet {
  return Object.freeze({ id, name, categoryId, status });
}
