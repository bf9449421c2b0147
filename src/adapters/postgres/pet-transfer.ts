/** Imports pets to PostgreSQL, and exports them. Each import and export has its own connection. */

import { randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Observer } from '../../application/ports/observer.ts';
import { idsNotAccepted, type PetTransfer } from '../../application/ports/pet-transfer.ts';
import { storageUnavailable } from '../../application/ports/storage-fault.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { NewPet, Pet } from '../../domain/pet.ts';
import { ATTRIBUTE_COLUMNS, PET_COLUMNS, petOf } from '../storage-kit/pet-rows.ts';
import { codeOf } from '../storage-kit/store-errors.ts';
import type { ConnectionPool, ResultRow, Session } from './connection-pool.ts';
import { assertEqualCounts } from './creates.ts';
import { arrayParameters, arraysOf, listStatement, TAKE_ORDER } from './pets.ts';
import { movedSequence } from './schema.ts';

const COPY_SIZE = 20_000;
const EXPORT_SIZE = 1000;

/** The maximum number of pets of a statement, so that a large batch of a caller does not become one long line of JSON. */
const ADD_SIZE = 1000;

/** A table for the pets of an import. Filling it requires no lock on the store. Pets without ids get temporary numbers. */
const STAGE = 'CREATE TEMPORARY TABLE staged (LIKE pets, PRIMARY KEY (id)) ON COMMIT DROP';
const ADD = `INSERT INTO staged (${ATTRIBUTE_COLUMNS}, id) SELECT * FROM unnest(${arrayParameters('bigint')})`;
/**
 * The timeout keeps a suspended import from blocking creates for long. To avoid a deadlock, an import locks the table
 * first, and then takes the order lock, as creates do.
 */
const lockIn = (mode: string) =>
  `SET LOCAL idle_in_transaction_session_timeout = '10s'; LOCK TABLE pets IN ${mode} MODE; ${TAKE_ORDER}`;
const copying = (columns: string) => `WITH next AS (SELECT * FROM staged WHERE id > $1 ORDER BY id LIMIT $2),
    stored AS (INSERT INTO pets (${columns}) SELECT ${columns} FROM next ORDER BY id RETURNING 1)
  SELECT max(id), count(*) FROM next HAVING ${assertEqualCounts('next', 'stored')}`;
/** Whether the store has ever had a pet. The sequence also counts pets that another program has removed. */
const HAD_PETS =
  "SELECT pg_sequence_last_value('pets_id_seq'::regclass) IS NOT NULL OR EXISTS (SELECT 1 FROM pets)";

const LAST_PET = 'SELECT max(id) FROM pets';

export function petTransfer(pool: ConnectionPool, observer: Observer): PetTransfer {
  return {
    async importPets(batches, options) {
      await using spool = await openSpool();
      const withIds = await spoolAll(spool, pool, batches, options);
      using session = await pool.openSession();
      const startedAt = performance.now();
      // One transaction, because a pooler could run a second one on another connection, which lacks the temporary table.
      await session.begin();
      await session.run(STAGE);
      for await (const values of spool.read()) {
        options.signal?.throwIfAborted();
        await session.run(ADD, values);
      }
      const writes = await copy(session, withIds, options);
      observer.onCommit?.({ writes, ms: performance.now() - startedAt });
      return writes;
    },

    /** Exports each pet as it is when its page is read. One transaction over all pages would delay the vacuum of the database. */
    async *exportPets(filter) {
      using session = await pool.openSession();
      const read = async (text: string, values?: unknown[]) => {
        await session.begin('READ ONLY');
        const rows = await session.run(text, values);
        await session.run('COMMIT');
        return rows;
      };
      const [[last] = []] = await read(LAST_PET);
      for (let after: bigint | undefined, isLast = last === null; !isLast; ) {
        const { text, values } = listStatement({ ...filter, limit: EXPORT_SIZE, after });
        const rows = await read(text, values);
        const pets = rows.map(petOf).filter(({ id }) => id <= (last as bigint));
        isLast = pets.length < EXPORT_SIZE;
        after = pets.at(-1)?.id;
        if (pets.length > 0) yield pets;
      }
    },
  };
}

/** Opens a temporary file for the batches of an import, so that no transaction is open while a slow source is read. */
async function openSpool() {
  const path = join(tmpdir(), `animal-store-import-${randomUUID()}`);
  const file: FileHandle = await inFile(open(path, 'wx+', 0o600));
  // A file without a name is deleted when it is closed, or when the process crashes.
  await unlink(path).catch(() => {});
  return {
    /** Writes the values of a statement as one line of JSON. */
    add: (values: readonly unknown[]) =>
      inFile(file.appendFile(`${JSON.stringify(values).replace(/[\u2028\u2029]/g, escaped)}\n`)),
    async *read(): AsyncIterable<unknown[]> {
      for await (const line of file.readLines({ start: 0, autoClose: false })) yield JSON.parse(line);
    },
    [Symbol.asyncDispose]: () => file.close(),
  };
}

/** Escapes characters that `readLines` would treat as the end of a line. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16)}`;
}

function inFile<T>(work: Promise<T>): Promise<T> {
  return work.catch((error: unknown) => {
    const message = `the temporary file of the import in ${tmpdir()} cannot be written (${codeOf(error)}): nothing was stored`;
    throw storageUnavailable(message, error);
  });
}

type Spool = Awaited<ReturnType<typeof openSpool>>;
type Import = Parameters<PetTransfer['importPets']>;

/** Writes all batches to the spool. Resolves with `true` if the pets have ids. */
async function spoolAll(spool: Spool, pool: ConnectionPool, ...[batches, options]: Import): Promise<boolean> {
  const isNew = idFilter();
  let withIds = false;
  let count = 0;
  for await (const pets of batches) {
    options.signal?.throwIfAborted();
    pool.assertOpen();
    if (!withIds && pets[0] !== undefined && 'id' in pets[0]) {
      withIds = true;
      refuseIdsInUse(await pool.read({ text: HAD_PETS }));
    }
    const added: (NewPet | Pet)[] = [];
    for (const pet of pets)
      if (!('id' in pet) || isNew(pet.id)) added.push(pet);
      else options.onDuplicateId(pet);
    for (let start = 0; start < added.length; start += ADD_SIZE) {
      const some = added.slice(start, start + ADD_SIZE);
      const ids = some.map((pet) => ('id' in pet ? pet.id : BigInt(count++)));
      await spool.add([...arraysOf(some), `{${ids.join()}}`]);
    }
  }
  return withIds;
}

/** Returns a function that tells whether an id is new. Ids without large gaps between them need little memory, in any order. */
function idFilter(): (id: bigint) => boolean {
  const blocks = new Map<bigint, bigint>();
  return (id) => {
    const [block, bit] = [id >> 6n, 1n << (id & 63n)];
    const known = blocks.get(block) ?? 0n;
    if ((known & bit) !== 0n) return false;
    blocks.set(block, known | bit);
    return true;
  };
}

async function copy(session: Session, withIds: boolean, { onProgress, signal }: Import[1]): Promise<number> {
  await session.run(lockIn(withIds ? 'SHARE ROW EXCLUSIVE' : 'ROW EXCLUSIVE'));
  if (withIds) refuseIdsInUse(await session.run(HAD_PETS));
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
  if (copied === 0) onProgress?.(0);
  if (withIds && copied > 0) await session.run(movedSequence('pets'));
  await session.run('COMMIT');
  return copied;
}

function refuseIdsInUse([row]: readonly ResultRow[]): void {
  if (row?.[0] === true) throw idsNotAccepted();
}
