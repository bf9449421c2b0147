import type { Observer } from '../../application/ports/observer.ts';
import { idsNotAccepted, type PetTransfer } from '../../application/ports/pet-transfer.ts';
import type { Pet } from '../../domain/pet.ts';
import { importStaged, type StagingTable } from '../storage-kit/staged-import.ts';
import type { ConnectionPool } from './connection-pool.ts';
import { TAKE_ORDER } from './order.ts';
import { ARRAYS, ATTRIBUTE_COLUMNS, arraysOf, COLUMNS, listStatement, parameter, petOf } from './pets.ts';

/** Filling this table locks nothing. Pets without ids are numbered. */
const STAGE = 'CREATE TEMPORARY TABLE staged (LIKE pets, PRIMARY KEY (id))';
const ADD = `INSERT INTO staged (${ATTRIBUTE_COLUMNS}, id)
  SELECT * FROM unnest(${ARRAYS}, ${parameter(1)}::bigint[])
  ON CONFLICT DO NOTHING RETURNING id`;

const COPY = copying(`(${ATTRIBUTE_COLUMNS}) SELECT ${ATTRIBUTE_COLUMNS}`);
const COPY_WITH_ID = copying(`(${COLUMNS}) SELECT ${COLUMNS}`);

/** Later pets get greater ids than the imported ones. */
const SKIP_IDS = `SELECT setval('pets_id_seq', greatest(nextval('pets_id_seq'), max(id))) FROM pets`;

/** An import that is stopped must not stop the creates of all servers. */
const END_IDLE_TRANSACTION = "SET idle_in_transaction_session_timeout = '10s'";

const HAS_PETS = 'SELECT EXISTS (SELECT 1 FROM pets)';

const EXPORT_SIZE = 1000;

export function petTransfer(connections: ConnectionPool, observer: Observer): PetTransfer {
  return {
    async importPets(batches, options) {
      // The end of the session removes the temporary table.
      using session = await connections.openSession(true);
      const { run } = session;
      await run(END_IDLE_TRANSACTION);
      await run(STAGE);
      let staged = 0;
      let startedAt = 0;
      const table: StagingTable = {
        async stagePets(pets) {
          const ids = pets.map((pet, index) => ('id' in pet ? pet.id : BigInt(staged + index)));
          staged += pets.length;
          const rows = await run(ADD, [...arraysOf(pets), `{${ids.join()}}`]);
          if (rows.length === pets.length) return [];
          const added = new Set(rows.map(([id]) => id));
          return (pets as readonly Pet[]).filter(({ id }) => !added.delete(id));
        },
        async refuseIdsInUse() {
          const [row] = await run(HAS_PETS);
          if (row?.[0] === true) throw idsNotAccepted();
        },
        async begin(withIds) {
          startedAt = performance.now();
          await run('BEGIN');
          // As creates do, so that no two of them wait for each other: first the table, and then the order of the ids.
          await run(`LOCK TABLE pets IN ${withIds ? 'SHARE ROW EXCLUSIVE' : 'ROW EXCLUSIVE'} MODE`);
          await run(TAKE_ORDER);
        },
        async copyPets(withIds, after, limit) {
          const [[last, count] = []] = await run(withIds ? COPY_WITH_ID : COPY, [after, limit]);
          return last === null ? null : [last as bigint, Number(count)];
        },
        async commit(withIds, writes) {
          if (withIds && writes > 0) await run(SKIP_IDS);
          await run('COMMIT');
          observer.onCommit?.({ writes, ms: performance.now() - startedAt });
        },
      };
      return await importStaged(table, batches, options);
    },

    /** All pets are from one snapshot of the database. The next batch is read while the last one is used. */
    async *exportPets({ status } = {}) {
      using session = await connections.openSession(true);
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
        connections.assertOpen();
        rows = await next;
      }
    },
  };
}

/** Copies the next pets of the temporary table. */
function copying(columns: string): string {
  return `WITH next AS (SELECT * FROM staged WHERE id > $1 ORDER BY id LIMIT $2),
    stored AS (INSERT INTO pets ${columns} FROM next ORDER BY id)
    SELECT max(id), count(*) FROM next`;
}
