import type { Observer } from '../../application/ports/observer.ts';
import type { PetQuery } from '../../application/ports/pet-repository.ts';
import {
  idsNotAccepted,
  type PetTransfer,
  type TransferOptions,
} from '../../application/ports/pet-transfer.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { type Connections, LONG_TIMEOUT } from './connections.ts';
import { columnsOf, listStatement, petOf } from './pets.ts';
import { COMMIT, type Run } from './statement.ts';

/**
 * The temporary table for the pets of an import. Filling it locks nothing, and no transaction is open in between. The place
 * of a pet is its id, or its number in the import.
 */
const STAGE =
  'CREATE TEMPORARY TABLE staged (name text, category_id bigint, status text, place bigint PRIMARY KEY)';
const ADD = `INSERT INTO staged (name, category_id, status, place)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
  ON CONFLICT DO NOTHING RETURNING place`;
const NEXT_PLACE = `SELECT max(place), count(*) FROM (
  SELECT place FROM staged WHERE place > $1 ORDER BY place LIMIT $2) AS next`;
const STAGED = 'FROM staged WHERE place > $1 AND place <= $2 ORDER BY place';
const STORE = `INSERT INTO pets (name, category_id, status) SELECT name, category_id, status ${STAGED}`;
const STORE_WITH_ID = `INSERT INTO pets (id, name, category_id, status) SELECT place, name, category_id, status ${STAGED}`;

/** Later pets get greater ids than the imported ones. */
const SKIP_IDS = `SELECT setval('pets_id_seq', greatest(nextval('pets_id_seq'), max(id))) FROM pets`;

const HAS_PETS = 'SELECT EXISTS (SELECT 1 FROM pets)';

/** The maximum number of rows that one statement stores, and that one statement reads. */
const STORE_SIZE = 20_000;
const EXPORT_SIZE = 1000;

type Batches = AsyncIterable<readonly (NewPet | Pet)[]>;

/**
 * Imports and exports pets in bulk. An import first fills a temporary table, and then copies the rows of the temporary
 * table into the store in one transaction.
 */
export class PostgresPetTransfer implements PetTransfer {
  readonly #connections: Connections;
  readonly #observer: Observer;

  constructor(connections: Connections, observer: Observer) {
    this.#connections = connections;
    this.#observer = observer;
  }

  async importPets(batches: Batches, options: TransferOptions): Promise<number> {
    const { run, release } = await this.#connections.openSession(LONG_TIMEOUT);
    try {
      const withIds = await this.#stage(run, batches, options);
      const startedAt = performance.now();
      await run('BEGIN');
      const writes = await this.#store(run, withIds, options);
      await run(COMMIT);
      this.#observer.onCommit?.({ writes, ms: performance.now() - startedAt });
      return writes;
    } finally {
      // This removes the temporary table.
      release();
    }
  }

  /** All pets of an export are from one snapshot of the database. The next batch is read while the last one is used. */
  async *exportPets({ status }: Pick<PetQuery, 'status'> = {}): AsyncGenerator<readonly Pet[]> {
    const { run, release } = await this.#connections.openSession(LONG_TIMEOUT);
    try {
      const read = (after?: bigint) => {
        const { text, values } = listStatement({ limit: EXPORT_SIZE, status, after });
        return run(text, values);
      };
      await run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      let rows = await read();
      while (rows.length > 0) {
        const pets = rows.map(petOf);
        const next = read((pets.at(-1) as Pet).id);
        // The caller may never ask for the next batch.
        next.catch(() => {});
        yield pets;
        this.#connections.assertOpen();
        rows = await next;
      }
      await run(COMMIT);
    } finally {
      release();
    }
  }

  /**
   * Fills the temporary table with the pets of all batches. Resolves with `true` when the pets have ids, and with
   * `false` otherwise.
   */
  async #stage(run: Run, batches: Batches, { onDuplicateId, signal }: TransferOptions): Promise<boolean> {
    await run(STAGE);
    let withIds: boolean | undefined;
    let count = 0;
    for await (const batch of batches) {
      signal?.throwIfAborted();
      this.#connections.assertOpen();
      const [first] = batch;
      if (first === undefined) continue;
      if (withIds === undefined) {
        withIds = 'id' in first;
        if (withIds) await refuseIdsInUse(run);
      }
      const places = batch.map((pet, index) => ('id' in pet ? pet.id : BigInt(count + index)));
      count += batch.length;
      const rows = await run(ADD, [...columnsOf(batch), `{${places.join()}}`]);
      if (rows.length === batch.length) continue;
      const added = new Set(rows.map(([id]) => id));
      for (const pet of batch as readonly Pet[]) if (!added.delete(pet.id)) onDuplicateId(pet);
    }
    return withIds ?? false;
  }

  async #store(run: Run, withIds: boolean, { onProgress, signal }: TransferOptions): Promise<number> {
    if (withIds) {
      await run('LOCK TABLE pets IN SHARE ROW EXCLUSIVE MODE');
      await refuseIdsInUse(run);
    }
    const text = withIds ? STORE_WITH_ID : STORE;
    let stored = 0;
    for (let place: bigint = INT64_MIN; ; ) {
      signal?.throwIfAborted();
      this.#connections.assertOpen();
      const [row] = await run(NEXT_PLACE, [place, STORE_SIZE]);
      const [next, count] = row as readonly [bigint | null, bigint];
      if (next === null) break;
      await run(text, [place, next]);
      place = next;
      stored += Number(count);
      onProgress?.(stored);
    }
    if (withIds && stored > 0) await run(SKIP_IDS);
    return stored;
  }
}

async function refuseIdsInUse(run: Run): Promise<void> {
  const [row] = await run(HAS_PETS);
  if (row?.[0] === true) throw idsNotAccepted();
}
