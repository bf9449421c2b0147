/** Imports and exports, each over a connection of its own. */

import type { Observer } from '../../application/ports/observer.ts';
import { idsNotAccepted, type PetTransfer } from '../../application/ports/pet-transfer.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import { ATTRIBUTE_COLUMNS, PET_COLUMNS, petOf } from '../storage-kit/pet-rows.ts';
import type { ConnectionPool, Session } from './connection-pool.ts';
import { arrayParameters, arraysOf, listStatement, TAKE_ORDER } from './pets.ts';
import { movedSequence } from './schema.ts';

const COPY_SIZE = 20_000;
const EXPORT_SIZE = 1000;

/** Filling this table locks nothing. Pets without ids are numbered. */
const STAGE = 'CREATE TEMPORARY TABLE staged (LIKE pets, PRIMARY KEY (id))';
const ADD = `INSERT INTO staged (${ATTRIBUTE_COLUMNS}, id)
  SELECT * FROM unnest(${arrayParameters('bigint')}) ON CONFLICT DO NOTHING RETURNING id`;
/** An import that is stopped must not stop the creates of all servers. As creates do, it locks the table before the order of ids. */
const beginWith = (mode: string) =>
  `SET idle_in_transaction_session_timeout = '10s'; BEGIN; LOCK TABLE pets IN ${mode} MODE; ${TAKE_ORDER}`;
const copying = (columns: string) => `WITH next AS (SELECT * FROM staged WHERE id > $1 ORDER BY id LIMIT $2),
    stored AS (INSERT INTO pets (${columns}) SELECT ${columns} FROM next ORDER BY id)
  SELECT max(id), count(*) FROM next`;
/** The sequence tells of pets that another program has removed. */
const HAD_PETS =
  "SELECT pg_sequence_last_value('pets_id_seq'::regclass) IS NOT NULL OR EXISTS (SELECT 1 FROM pets)";

export function petTransfer(pool: ConnectionPool, observer: Observer): PetTransfer {
  return {
    async importPets(batches, options) {
      // The end of the session removes the temporary table.
      using session = await pool.openSession();
      await session.run(STAGE);
      const withIds = await stage(session, batches, options);
      const startedAt = performance.now();
      const writes = await copy(session, withIds, options);
      observer.onCommit?.({ writes, ms: performance.now() - startedAt });
      return writes;
    },

    /** All pets are from one snapshot of the database. */
    async *exportPets({ status } = {}) {
      using session = await pool.openSession();
      const read = (after?: bigint) => {
        const { text, values } = listStatement({ limit: EXPORT_SIZE, status, after });
        return session.run(text, values);
      };
      await session.run('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
      for (let rows = await read(); rows.length > 0; ) {
        const pets = rows.map(petOf);
        yield pets;
        rows = await read(pets.at(-1)?.id);
      }
    },
  };
}

type Import = Parameters<PetTransfer['importPets']>;

/** Resolves with whether the pets have ids. */
async function stage(session: Session, ...[batches, { onDuplicateId, signal }]: Import): Promise<boolean> {
  let withIds = false;
  let staged = 0;
  for await (const pets of batches) {
    signal?.throwIfAborted();
    if (!withIds && pets[0] !== undefined && 'id' in pets[0]) {
      withIds = true;
      await refuseIdsInUse(session);
    }
    const ids = pets.map((pet, index) => ('id' in pet ? pet.id : BigInt(staged + index)));
    staged += pets.length;
    const rows = await session.run(ADD, [...arraysOf(pets), `{${ids.join()}}`]);
    const added = new Set(rows.map(([id]) => id));
    for (const pet of pets) if ('id' in pet && !added.delete(pet.id)) onDuplicateId(pet);
  }
  return withIds;
}

async function copy(session: Session, withIds: boolean, { onProgress, signal }: Import[1]): Promise<number> {
  await session.run(beginWith(withIds ? 'SHARE ROW EXCLUSIVE' : 'ROW EXCLUSIVE'));
  if (withIds) await refuseIdsInUse(session);
  const text = copying(withIds ? PET_COLUMNS : ATTRIBUTE_COLUMNS);
  let copied = 0;
  for (let last: unknown = INT64_MIN; ; ) {
    signal?.throwIfAborted();
    const [row = [null]] = await session.run(text, [last, COPY_SIZE]);
    if (row[0] === null) break;
    last = row[0];
    copied += Number(row[1]);
    onProgress?.(copied);
  }
  if (withIds && copied > 0) await session.run(movedSequence('pets'));
  await session.run('COMMIT');
  return copied;
}

async function refuseIdsInUse(session: Session): Promise<void> {
  const [row] = await session.run(HAD_PETS);
  if (row?.[0] === true) throw idsNotAccepted();
}
