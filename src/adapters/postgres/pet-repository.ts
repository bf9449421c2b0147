/** Pets in PostgreSQL. Reads that arrive together share statements. Pages are cached until the version of the data changes. */

import { listQuery } from '../../application/list-pets.ts';
import { nextTurn } from '../../application/pause.ts';
import type { PetPage, PetQuery, PetRepository } from '../../application/ports/pet-repository.ts';
import type { Pet } from '../../domain/pet.ts';
import type { PageCache } from '../storage-kit/page-cache.ts';
import { PET_COLUMNS, petOf } from '../storage-kit/pet-rows.ts';
import type { ConnectionPool, ResultRow, SqlStatement } from './connection-pool.ts';
import type { AddCreate } from './creates.ts';
import { listStatement } from './pets.ts';

/**
 * The version of the data. If two reads find the same version, nothing was committed between them. After a crash,
 * `pg_current_snapshot` can return the same value as before. The version still differs, because a crash resets the
 * statistics, and the version contains the time of the last reset.
 */
const VERSION =
  "(SELECT concat_ws(' ', pg_current_snapshot(), pg_postmaster_start_time(), pg_stat_get_bgwriter_stat_reset_time()))";
const READ_VERSION = { name: 'version', text: `SELECT ${VERSION}` };

/** @param hasVersion whether one server has all the data: only then is the version of the data exact */
export function petRepository(
  pool: ConnectionPool,
  addCreate: AddCreate,
  cache: PageCache,
  hasVersion: boolean,
): PetRepository & { read(): Promise<unknown> } {
  const sharePage = sharedReads<PetPage>(pool);
  const shareVersion = sharedReads<unknown>(pool);
  /**
   * Whether the last two versions differed. If so, the next one probably differs too, so `list` reads the page without first
   * reading the version.
   */
  let isChanging = true;

  /**
   * The query reads one pet more than the limit, to find out whether more pets match. A page without pets has no version, because
   * the version is a column of each row.
   */
  function pageOf(key: string, limit: number, rows: readonly ResultRow[]): PetPage {
    cache.statistics.misses += 1;
    const version = rows[0]?.at(-1) ?? undefined;
    if (version !== undefined) isChanging = cache.enter(version);
    const known = version && cache.get(key);
    if (known) return known;
    const pets = Object.freeze(rows.slice(0, limit).map(petOf));
    const page = Object.freeze({ pets, more: rows.length > limit });
    if (version !== undefined) cache.set(key, page);
    return page;
  }

  const statementOf = (query: PetQuery) =>
    listStatement({ ...query, limit: query.limit + 1 }, hasVersion ? VERSION : undefined);

  return {
    /** Runs the statements of `list` and `find` once, without a cache. */
    read: () => Promise.all([pool.read(statementOf({ limit: 0 })), pool.read({ ...FIND_ONE, values: [1n] })]),
    find: groupedGets(pool),
    add: async (pet) => (await addCreate({ pet: { ...pet } })) as Pet,
    async list(query) {
      const key = listQuery(query);
      if (!isChanging && cache.get(key) !== undefined) {
        // If the version has changed, `enter` removes all pages, even those that another connection has just read.
        isChanging = cache.enter(await shareVersion('', READ_VERSION, ([row]) => row?.[0]));
        const cached = cache.get(key);
        if (cached !== undefined) {
          cache.statistics.hits += 1;
          return cached;
        }
      }
      return await sharePage(key, statementOf(query), (rows) => pageOf(key, query.limit, rows));
    },
  };
}

/** Equal calls share a read until it is sent. A call that joined later could miss a write acknowledged before the call. */
function sharedReads<R>(pool: ConnectionPool) {
  const waiting = new Map<string, Promise<R>>();
  return (key: string, statement: SqlStatement, convert: (rows: readonly ResultRow[]) => R): Promise<R> => {
    const known = waiting.get(key);
    if (known !== undefined) return known;
    const leave = () => {
      if (waiting.get(key) === result) waiting.delete(key);
    };
    const sent = nextTurn().then(() => pool.read(statement, leave));
    const result = sent.then(convert).finally(leave);
    waiting.set(key, result);
    return result;
  };
}

/** PostgreSQL plans a statement with an array at each execution, but `FIND_ONE` only once. */
const FIND = { name: 'find', text: `SELECT ${PET_COLUMNS} FROM pets WHERE id = ANY ($1::bigint[])` };
const FIND_ONE = { name: 'find-one', text: `SELECT ${PET_COLUMNS} FROM pets WHERE id = $1` };
/**
 * The number of pets per statement, if enough connections are free. A statement reads one disk block after another, so small
 * statements, which read in parallel, are faster when PostgreSQL reads from disk. From memory, large statements are faster.
 */
const GROUP_SIZE = { fromDisk: 6, fromMemory: 16 };
/** In milliseconds per pet: a statement that takes longer counts as one that reads from disk. */
const SLOW = 0.4;

interface WaitingGet {
  readonly id: bigint;
  resolve(pet: Pet | undefined): void;
  reject(error: unknown): void;
}

/** Finds pets by their ids. The calls in one turn of the event loop are divided among the free connections. */
function groupedGets(pool: ConnectionPool): PetRepository['find'] {
  let waiting: WaitingGet[] = [];
  let size = GROUP_SIZE.fromDisk;

  function sendAll(): void {
    const gets = waiting;
    waiting = [];
    const free = Math.max(1, pool.max - pool.statistics.busy);
    const share = Math.max(size, Math.ceil(gets.length / free));
    for (let start = 0; start < gets.length; start += share) void send(gets.slice(start, start + share));
  }

  async function send(gets: readonly WaitingGet[]): Promise<void> {
    const ids = gets.map(({ id }) => id);
    const isOne = ids.length === 1;
    const statement = isOne ? { ...FIND_ONE, values: ids } : { ...FIND, values: [`{${ids.join()}}`] };
    let sentAt = 0;
    try {
      const rows = await pool.read(statement, () => (sentAt = performance.now()));
      const isSlow = performance.now() - sentAt > SLOW * gets.length;
      size = isSlow ? GROUP_SIZE.fromDisk : GROUP_SIZE.fromMemory;
      const found = new Map(rows.map((row) => [row[0], petOf(row)]));
      for (const { id, resolve } of gets) resolve(found.get(id));
    } catch (error) {
      for (const { reject } of gets) reject(error);
    }
  }

  return (id) =>
    new Promise((resolve, reject) => {
      if (waiting.push({ id, resolve, reject }) === 1) void nextTurn().then(sendAll);
    });
}
