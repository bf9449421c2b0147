/** Imports and exports, each over a connection of its own. */

import type { Observer } from '../../application/ports/observer.ts';
import {
  idsNotAccepted,
  type PetTransfer,
  type TransferOptions,
} from '../../application/ports/pet-transfer.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import type { ConnectionPool, Session } from './connection-pool.ts';
import {
  ARRAYS,
  ATTRIBUTE_COLUMNS,
  arraysOf,
  COLUMNS,
  listStatement,
  parameter,
  petOf,
  TAKE_ORDER,
} from './pets.ts';

/** Filling this table locks nothing. Pets without ids are numbered. */
const STAGE = 'CREATE TEMPORARY TABLE staged (LIKE pets, PRIMARY KEY (id))';
const ADD = `INSERT INTO staged (${ATTRIBUTE_COLUMNS}, id)
  SELECT * FROM unnest(${ARRAYS}, ${parameter(1)}::bigint[])
  ON CONFLICT DO NOTHING RETURNING id`;

/** An import that is stopped must not stop the creates of all servers. As creates do, it takes the table first, and then the order. */
const BEGIN = (mode: string) =>
  `SET idle_in_transaction_session_timeout = '10s'; BEGIN; LOCK TABLE pets IN ${mode} MODE; ${TAKE_ORDER}`;
const COPY = (columns: string) => `WITH next AS (SELECT * FROM staged WHERE id > $1 ORDER BY id LIMIT $2),
    stored AS (INSERT INTO pets (${columns}) SELECT ${columns} FROM next ORDER BY id)
    SELECT max(id), count(*) FROM next`;
const COPY_SIZE = 20_000;

/** Later pets get greater ids than the imported ones. */
const SKIP_IDS = `SELECT setval('pets_id_seq', greatest(nextval('pets_id_seq'), max(id))) FROM pets`;

/** Whether the store has ever had a pet: the sequence tells of pets that another program has removed. */
const HAD_PETS = `SELECT pg_sequence_last_value('pets_id_seq'::regclass) IS NOT NULL OR EXISTS (SELECT 1 FROM pets)`;

const EXPORT_SIZE = 1000;

export function petTransfer(pool: ConnectionPool, observer: Observer): PetTransfer {
  return {
    async importPets(batches, options) {
      // The end of the session removes the temporary table.
      using session = await pool.openSession();
      await session.run(STAGE);
      const withIds = await stage(session, batches, options);
      return await copy(session, withIds, options, observer);
    },

    /** All pets are from one snapshot of the database. The next batch is read while the last one is used. */
    async *exportPets({ status } = {}) {
      using session = await pool.openSession();
      const read = (after?: bigint) => {
        const { text, values } = listStatement({ limit: EXPORT_SIZE, status, after });
        return session.run(text, values);
      };
      await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      let rows = await read();
      while (rows.length > 0) {
        const pets = rows.map(petOf);
        const next = read(pets.at(-1)?.id);
        // The caller may never ask for the next batch.
        next.catch(() => {});
        yield pets;
        pool.assertOpen();
        rows = await next;
      }
    },
  };
}

/** Resolves with whether the pets have ids. */
async function stage(
  { run }: Session,
  batches: AsyncIterable<readonly (NewPet | Pet)[]>,
  { onDuplicateId, signal }: TransferOptions,
): Promise<boolean> {
  let withIds = false;
  let staged = 0;
  for await (const pets of batches) {
    signal?.throwIfAborted();
    if (pets[0] === undefined) continue;
    if (!withIds && 'id' in pets[0]) {
      withIds = true;
      await refuseIdsInUse(run);
    }
    const ids = pets.map((pet, index) => ('id' in pet ? pet.id : BigInt(staged + index)));
    staged += pets.length;
    const added = new Set((await run(ADD, [...arraysOf(pets), `{${ids.join()}}`])).map(([id]) => id));
    for (const pet of pets) if ('id' in pet && !added.delete(pet.id)) onDuplicateId(pet);
  }
  return withIds;
}

async function copy(
  { run }: Session,
  withIds: boolean,
  { onProgress, signal }: TransferOptions,
  observer: Observer,
): Promise<number> {
  const startedAt = performance.now();
  await run(BEGIN(withIds ? 'SHARE ROW EXCLUSIVE' : 'ROW EXCLUSIVE'));
  if (withIds) await refuseIdsInUse(run);
  let writes = 0;
  for (let after: unknown = INT64_MIN; ; ) {
    signal?.throwIfAborted();
    const values = [after, COPY_SIZE];
    const [row] = await run(COPY(withIds ? COLUMNS : ATTRIBUTE_COLUMNS), values);
    if (row?.[0] === null || row === undefined) break;
    after = row[0];
    writes += Number(row[1]);
    onProgress?.(writes);
  }
  if (withIds && writes > 0) await run(SKIP_IDS);
  await run('COMMIT');
  observer.onCommit?.({ writes, ms: performance.now() - startedAt });
  return writes;
}

async function refuseIdsInUse(run: Session['run']): Promise<void> {
  const [row] = await run(HAD_PETS);
  if (row?.[0] === true) throw idsNotAccepted();
}
