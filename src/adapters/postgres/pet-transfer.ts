import type { Observer } from '../../application/ports/observer.ts';
import {
  idsNotAccepted,
  type PetTransfer,
  type TransferOptions,
} from '../../application/ports/pet-transfer.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { Connections, Run } from './connections.ts';
import { columnsOf, listStatement, petOf } from './pets.ts';

/** Filling this table locks nothing. The place of a pet is its id, or its number in the import. */
const STAGE =
  'CREATE TEMPORARY TABLE staged (name text, category_id bigint, status text, place bigint PRIMARY KEY)';
const ADD = `INSERT INTO staged (name, category_id, status, place)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[])
  ON CONFLICT DO NOTHING RETURNING place`;

const STORE = storing('(name, category_id, status) SELECT name, category_id, status');
const STORE_WITH_ID = storing('(id, name, category_id, status) SELECT place, name, category_id, status');

/** Later pets get greater ids than the imported ones. */
const SKIP_IDS = `SELECT setval('pets_id_seq', greatest(nextval('pets_id_seq'), max(id))) FROM pets`;

const HAS_PETS = 'SELECT EXISTS (SELECT 1 FROM pets)';

const STORE_SIZE = 20_000;
const EXPORT_SIZE = 1000;

/** An import first fills a temporary table, and then copies its rows into the store in one transaction. */
export function petTransfer(connections: Connections, observer: Observer): PetTransfer {
  return {
    async importPets(batches, { onDuplicateId, onProgress, signal }) {
      const session = await connections.openSession(true);
      const run: Run = (text, values) => {
        signal?.throwIfAborted();
        connections.assertOpen();
        return session.run(text, values);
      };
      try {
        const withIds = await stage(run, batches, onDuplicateId);
        const startedAt = performance.now();
        await run('BEGIN');
        const writes = await store(run, withIds, onProgress);
        await run('COMMIT');
        observer.onCommit?.({ writes, ms: performance.now() - startedAt });
        return writes;
      } finally {
        // This removes the temporary table.
        session.release();
      }
    },

    /** All pets are from one snapshot of the database. The next batch is read while the last one is used. */
    async *exportPets({ status } = {}) {
      const { run, release } = await connections.openSession(true);
      const read = (after?: bigint) => {
        const { text, values } = listStatement({ limit: EXPORT_SIZE, status, after });
        return run(text, values);
      };
      try {
        await run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
        let rows = await read();
        while (rows.length > 0) {
          const pets = rows.map(petOf);
          const next = read(pets.at(-1)?.id);
          // The caller may never ask for the next batch.
          next.catch(() => {});
          yield pets;
          connections.assertOpen();
          rows = await next;
        }
      } finally {
        release();
      }
    },
  };
}

/** Fills the temporary table with the pets of all batches. Resolves with whether the pets have ids. */
async function stage(
  run: Run,
  batches: AsyncIterable<readonly (NewPet | Pet)[]>,
  onDuplicateId: TransferOptions['onDuplicateId'],
): Promise<boolean> {
  await run(STAGE);
  let withIds = false;
  let count = 0;
  for await (const batch of batches) {
    const [first] = batch;
    if (first === undefined) continue;
    if (count === 0 && 'id' in first) {
      withIds = true;
      await refuseIdsInUse(run);
    }
    const places = batch.map((pet, index) => ('id' in pet ? pet.id : BigInt(count + index)));
    count += batch.length;
    const rows = await run(ADD, [...columnsOf(batch), `{${places.join()}}`]);
    if (rows.length === batch.length) continue;
    const added = new Set(rows.map(([id]) => id));
    for (const pet of batch as readonly Pet[]) if (!added.delete(pet.id)) onDuplicateId(pet);
  }
  return withIds;
}

async function store(run: Run, withIds: boolean, onProgress: TransferOptions['onProgress']): Promise<number> {
  if (withIds) {
    await run('LOCK TABLE pets IN SHARE ROW EXCLUSIVE MODE');
    await refuseIdsInUse(run);
  }
  let stored = 0;
  for (let place: unknown = INT64_MIN; ; ) {
    const [row = []] = await run(withIds ? STORE_WITH_ID : STORE, [place, STORE_SIZE]);
    const [next, count] = row;
    if (next === null) break;
    place = next;
    stored += Number(count);
    onProgress?.(stored);
  }
  if (withIds && stored > 0) await run(SKIP_IDS);
  return stored;
}

/** Stores the next pets of the temporary table. */
function storing(copy: string): string {
  return `WITH next AS (SELECT * FROM staged WHERE place > $1 ORDER BY place LIMIT $2),
    stored AS (INSERT INTO pets ${copy} FROM next ORDER BY place)
    SELECT max(place), count(*) FROM next`;
}

async function refuseIdsInUse(run: Run): Promise<void> {
  const [row] = await run(HAS_PETS);
  if (row?.[0] === true) throw idsNotAccepted();
}
