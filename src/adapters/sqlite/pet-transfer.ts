import { setImmediate as nextTurn } from 'node:timers/promises';
import type Database from 'better-sqlite3';
import type { ImportOptions, PetQuery, PetTransfer } from '../../application/ports.ts';
import { AnimalStoreError } from '../../domain/errors.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet, PetStatus } from '../../domain/pet.ts';
import { openReader, openWriter } from './database.ts';
import { storageError } from './errors.ts';
import { failureOf } from './findings.ts';
import type { Health } from './health.ts';
import { assertSameFiles } from './store-files.ts';

/** A temporary table is a file that is gone with its connection, and filling it takes no lock on the store. */
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

/** AUTOINCREMENT keeps a row here for a table that ever had one. */
const EVER_HAD_A_PET = `SELECT EXISTS (SELECT 1 FROM pets) OR EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pets')`;

const LAST_ID = 'SELECT max(id) FROM pets';
const EXPORT = 'SELECT id, name, category_id, status FROM pets WHERE id > ? AND id <= ? ORDER BY id LIMIT ?';
const EXPORT_BY_STATUS =
  'SELECT id, name, category_id, status FROM pets WHERE status = ? AND id > ? AND id <= ? ORDER BY id LIMIT ?';

/** Rows between two turns of the event loop. */
const STORE_SIZE = 20_000;
const EXPORT_SIZE = 250;

type Batches = AsyncIterable<readonly (NewPet | Pet)[]>;

type Row = readonly [id: bigint, name: string, categoryId: bigint, status: PetStatus];

/** Each call has a connection of its own. An import is gathered in a temporary table, then stored in one transaction. */
export class SqlitePetTransfer implements PetTransfer {
  readonly #path: string;
  readonly #health: Health;
  readonly #onCommit: () => void;

  /** @param onCommit called before the caller learns of a commit */
  constructor(path: string, health: Health, onCommit: () => void) {
    this.#path = path;
    this.#health = health;
    this.#onCommit = onCommit;
  }

  async importPets(batches: Batches, options: ImportOptions = {}): Promise<number> {
    // Before and after: opening another file would change it, or make one.
    assertSameFiles(this.#health.files);
    const db = openWriter(this.#path);
    try {
      assertSameFiles(this.#health.files);
      const withIds = await gather(db, batches, options);
      if (this.#health.syncFault !== undefined) throw this.#health.syncFault;
      const count = await store(db, withIds, options);
      assertSameFiles(this.#health.files);
      this.#onCommit();
      return count;
    } catch (error) {
      this.#noteSyncFault(error);
      throw ourError(error);
    } finally {
      db.close();
    }
  }

  /** Other failures can be those of the temporary table, on another disk. */
  #noteSyncFault(error: unknown): void {
    const failure = failureOf(error);
    if (failure.reason === 'sync_failed') this.#health.apply({ write: failure });
  }

  /**
   * A pet is never changed or deleted, and a later one has a greater id, so the pets up to the last id are the store of
   * that moment. No transaction stays open between batches: it would keep the write-ahead log from being reused for as
   * long as the consumer takes.
   */
  async *exportPets({ status }: Pick<PetQuery, 'status'> = {}): AsyncGenerator<readonly Pet[]> {
    const db = openReader(this.#path);
    try {
      const read = reader(db, status);
      for (let pets = read(INT64_MIN); pets.length > 0; await nextTurn()) {
        yield pets;
        pets = read((pets.at(-1) as Pet).id);
      }
    } catch (error) {
      throw ourError(error);
    } finally {
      db.close();
    }
  }
}

/** Fills the temporary table, and tells whether the animals have ids. */
async function gather(
  db: Database.Database,
  batches: Batches,
  { onTaken = refuse, signal }: ImportOptions,
): Promise<boolean> {
  db.exec(STAGE);
  const add = db.prepare(ADD);
  const addWithId = db.prepare(ADD_WITH_ID);
  let withIds: boolean | undefined;
  const addAll = db.transaction((batch: readonly (NewPet | Pet)[]) => {
    for (const pet of batch) {
      const { name, categoryId, status } = pet;
      if ('id' in pet !== withIds) throw invalid('either all animals have an id or none');
      if (!('id' in pet)) add.run(name, categoryId, status);
      else if (addWithId.run(pet.id, name, categoryId, status).changes === 0) onTaken(pet);
    }
  });
  for await (const batch of batches) {
    signal?.throwIfAborted();
    const [first] = batch;
    if (withIds === undefined && first !== undefined) {
      withIds = 'id' in first;
      if (withIds) refuseIdsInUse(db);
    }
    addAll(batch);
  }
  return withIds ?? false;
}

/** One transaction, in steps, so that a signal is heard. Closing the connection undoes what was not committed. */
async function store(
  db: Database.Database,
  withIds: boolean,
  { onStored, signal }: ImportOptions,
): Promise<number> {
  const insert = db.prepare(withIds ? STORE_WITH_ID : STORE);
  const nextPlace = db.prepare<[bigint, number], bigint | null>(NEXT_PLACE).pluck();
  db.exec('BEGIN IMMEDIATE');
  if (withIds) refuseIdsInUse(db);
  let stored = 0;
  for (let place = 0n; ; ) {
    signal?.throwIfAborted();
    const next = nextPlace.get(place, STORE_SIZE) ?? null;
    if (next === null) break;
    stored += insert.run(place, next).changes;
    place = next;
    onStored?.(stored);
    await nextTurn();
  }
  db.exec('COMMIT');
  return stored;
}

function refuseIdsInUse(db: Database.Database): void {
  if (db.prepare(EVER_HAD_A_PET).pluck().get() === 0n) return;
  throw invalid('ids can be kept only in a store that never had an animal');
}

function refuse({ id }: Pet): never {
  throw invalid(`id ${id} is given twice`);
}

/** Reads batch by batch, up to the pet that is the last one now. */
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

function invalid(message: string): AnimalStoreError {
  return new AnimalStoreError('invalid_request', message);
}

/** What the driver threw, in the words of the core; what a batch, a callback or the signal threw, as it is. */
function ourError(error: unknown): unknown {
  const isDriver = error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_');
  return isDriver ? storageError(error) : error;
}
