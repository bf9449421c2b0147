import { PageCache, pageKey } from '../../application/page-cache.ts';
import type { PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import type { CacheStatistics } from '../../application/ports/statistics.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { Pet } from '../../domain/pet.ts';
import type { Connection } from './connection.ts';
import { closedError, storageError } from './errors.ts';
import { Flights } from './flights.ts';
import type { Call } from './pending.ts';
import { petOf } from './pet-row.ts';
import type { Outcome, Row, Statement } from './statement.ts';

const BYTES_PER_CALL = 500;

const FIND = 'SELECT id, name, category_id, status FROM pets WHERE id = ANY ($1::bigint[])';
/** For one pet. The server plans this statement once, and plans one with an array of one id for each execution. */
const FIND_ONE = 'SELECT id, name, category_id, status FROM pets WHERE id = $1';
const LIST = 'SELECT id, name, category_id, status FROM pets WHERE id > $1 ORDER BY id LIMIT $2';

/** Compares rows, so that the search starts in the index of the statuses, however few pets have the status. */
const LIST_BY_STATUS = `SELECT id, name, category_id, status FROM pets
  WHERE (status, id) > ($1, $2) AND status <= $1 ORDER BY status, id LIMIT $3`;

/**
 * The version of the data. Two equal versions tell that no transaction was committed between them, because each
 * transaction that writes gets a number, and leaves the list of running transactions when it ends. Another server, or
 * the same one after a crash, can use a number again, so the connection is a part of the version.
 */
const VERSION: Statement = {
  name: 'version',
  text: "SELECT concat_ws(' ', pg_current_snapshot(), pg_backend_pid(), pg_postmaster_start_time())",
  values: [],
};

/** A pet by its id, a page, or any other statement that reads. */
type Read =
  | { readonly kind: 'pet'; readonly id: bigint }
  | { readonly kind: 'page'; readonly query: PetQuery }
  | { readonly kind: 'rows'; readonly statement: Statement };

type ReadCall = Call<Read, unknown>;

/** A statement, the calls that wait for it, and what to do with its rows. */
interface Request {
  readonly statement: Statement;
  readonly calls: readonly ReadCall[];
  readonly use: (rows: readonly Row[]) => void;
}

/**
 * Reads with few round trips. Calls that arrive while other calls are in flight are sent together: all gets as one
 * statement, and equal queries for a page as one statement. A call never gets the response to a statement that was sent
 * before the call, because the response could lack a pet that was acknowledged in the meantime.
 *
 * Pages are cached as long as the version of the data is the same. Until then, equal queries return the same page object.
 */
export class Reader {
  readonly #connection: Connection;
  readonly #cachesPages: boolean;
  readonly #flights: Flights<Read, unknown>;
  readonly #pages = new PageCache();
  /** Whether the last two versions differed. */
  #isChanging = true;
  #hits = 0;
  #misses = 0;

  /** @param cachesPages whether the version of the data is exact: one server has all the data */
  constructor(connection: Connection, cachesPages: boolean) {
    this.#connection = connection;
    this.#flights = new Flights((calls) => this.#send(calls), connection.waitTimeout);
    this.#cachesPages = cachesPages;
  }

  find(id: bigint): Promise<Pet | undefined> {
    return this.#read({ kind: 'pet', id }) as Promise<Pet | undefined>;
  }

  list(query: PetQuery): Promise<PetPage> {
    return this.#read({ kind: 'page', query }) as Promise<PetPage>;
  }

  run(statement: Statement): Promise<readonly Row[]> {
    return this.#read({ kind: 'rows', statement }) as Promise<readonly Row[]>;
  }

  /** How many pages were found in the cache, and how many were read. */
  get pageStatistics(): CacheStatistics {
    return { hits: this.#hits, misses: this.#misses };
  }

  /** The number of reads that wait for other reads. */
  get waiting(): number {
    return this.#flights.waiting;
  }

  close(): void {
    void this.#flights.close();
    this.#flights.refuse(closedError());
  }

  #read(read: Read): Promise<unknown> {
    return this.#flights.add(read, BYTES_PER_CALL);
  }

  async #send(calls: readonly ReadCall[]): Promise<void> {
    const requests = this.#requestsFor(calls);
    const outcomes = await this.#connection.send(requests.map(({ statement }) => statement));
    for (const [index, { calls: waiting, use }] of requests.entries()) {
      const outcome = outcomes[index] as Outcome;
      if ('rows' in outcome) use(outcome.rows);
      else {
        // Without a version, no cached page is known to be up to date.
        this.#isChanging = true;
        this.#pages.enter(undefined);
        for (const { reject } of waiting) reject(storageError(outcome.error));
      }
    }
  }

  #requestsFor(calls: readonly ReadCall[]): Request[] {
    const gets: ReadCall[] = [];
    const lists: ReadCall[] = [];
    const requests: Request[] = [];
    for (const call of calls) {
      const { item } = call;
      if (item.kind === 'pet') gets.push(call);
      else if (item.kind === 'page') lists.push(call);
      else requests.push({ statement: item.statement, calls: [call], use: call.resolve });
    }
    if (gets.length > 0) requests.push(petsWithIds(gets));
    if (lists.length > 0) requests.push(...this.#pageRequests(lists));
    return requests;
  }

  /**
   * Returns the requests for pages. The first one asks for the version, and then resolves the calls whose pages are
   * cached and still up to date. After a change of the version, no page is expected to be up to date.
   */
  #pageRequests(calls: readonly ReadCall[]): Request[] {
    const cached: [string, ReadCall][] = [];
    const groups = new Map<string, [ReadCall, ...ReadCall[]]>();
    for (const call of calls) {
      const key = pageKey(queryOf(call));
      const group = groups.get(key);
      if (group !== undefined) group.push(call);
      else if (!this.#isChanging && this.#pages.get(key) !== undefined) cached.push([key, call]);
      else groups.set(key, [call]);
    }
    const reads = [...groups].map(([key, group]) => this.#pageRequest(key, group));
    if (!this.#cachesPages) return reads;
    const useVersion = ([row]: readonly Row[]) => {
      this.#isChanging = this.#pages.enter(row?.[0]);
      const late = cached.filter(([key, { resolve }]) => {
        const page = this.#pages.get(key);
        if (page !== undefined) {
          this.#hits += 1;
          resolve(page);
        }
        return page === undefined;
      });
      this.#flights.putBack(late.map(([, call]) => call));
    };
    const version: Request = { statement: VERSION, calls: cached.map(([, call]) => call), use: useVersion };
    return [version, ...reads];
  }

  #pageRequest(key: string, calls: readonly [ReadCall, ...ReadCall[]]): Request {
    const query = queryOf(calls[0]);
    const use = (rows: readonly Row[]) => {
      const known = this.#pages.get(key);
      const page = known ?? pageOf(rows, query.limit);
      if (known === undefined && this.#cachesPages) this.#pages.set(key, page);
      this.#misses += 1;
      for (const { resolve } of calls) resolve(page);
    };
    return { statement: pageStatement(query), calls, use };
  }
}

function petsWithIds(calls: readonly ReadCall[]): Request {
  const [first] = calls as readonly [ReadCall, ...ReadCall[]];
  const ids = calls.map(({ item }) => (item.kind === 'pet' ? item.id : INT64_MIN));
  if (ids.length === 1) {
    const useOne = ([row]: readonly Row[]) => first.resolve(row && petOf(row));
    return { statement: { name: 'find-one', text: FIND_ONE, values: ids }, calls, use: useOne };
  }
  const use = (rows: readonly Row[]) => {
    const pets = new Map(rows.map((row) => [row[0] as bigint, petOf(row)]));
    for (const [index, { resolve }] of calls.entries()) resolve(pets.get(ids[index] as bigint));
  };
  return { statement: { name: 'find', text: FIND, values: [`{${ids.join()}}`] }, calls, use };
}

/** Reads one pet more than the limit, to find out whether more pets match. */
function pageStatement({ limit, status, after = INT64_MIN }: PetQuery): Statement {
  return status === undefined
    ? { name: 'list', text: LIST, values: [after, limit + 1] }
    : { name: 'list-by-status', text: LIST_BY_STATUS, values: [status, after, limit + 1] };
}

function pageOf(rows: readonly Row[], limit: number): PetPage {
  return Object.freeze({ pets: Object.freeze(rows.slice(0, limit).map(petOf)), more: rows.length > limit });
}

function queryOf({ item }: ReadCall): PetQuery {
  return (item as Extract<Read, { kind: 'page' }>).query;
}
