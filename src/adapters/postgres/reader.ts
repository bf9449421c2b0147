import { PageCache, pageKey } from '../../application/page-cache.ts';
import type { PetPage, PetQuery } from '../../application/ports/pet-repository.ts';
import type { CacheStatistics } from '../../application/ports/statistics.ts';
import { closedError } from '../../application/ports/storage.ts';
import { INT64_MIN } from '../../domain/int64.ts';
import type { Pet } from '../../domain/pet.ts';
import type { Connections, Outcome, Statement } from './connections.ts';
import { storageError } from './errors.ts';
import type { Health } from './health.ts';
import { petOf } from './pet-row.ts';
import { ReadPace, STUCK } from './read-pace.ts';
import type { Row } from './session.ts';
import { type Call, WaitingCalls } from './waiting-calls.ts';

/** The maximum number of pets that one statement reads by their ids. */
const IDS_LIMIT = 1000;

const FIND = 'SELECT id, name, category_id, status FROM pets WHERE id = ANY ($1::bigint[])';
/** For one pet. The server plans this statement once, and plans one with an array of one id for each execution. */
const FIND_ONE = 'SELECT id, name, category_id, status FROM pets WHERE id = $1';

/** The columns of a page. The last one is the version of the snapshot from which the page is, computed once. */
const COLUMNS = 'id, name, category_id, status';
const VERSIONED = `${COLUMNS}, (SELECT pg_current_snapshot()::text)`;
const VERSION_COLUMN = 4;
const LIST = 'FROM pets WHERE id > $1 ORDER BY id LIMIT $2';

/** Compares rows, so that the search starts in the index of the statuses, however few pets have the status. */
const LIST_BY_STATUS = `FROM pets WHERE (status, id) > ($3, $1) AND status <= $3 ORDER BY status, id LIMIT $2`;

/**
 * The version of the data. Equal versions of one server tell that no transaction was committed between them, because each
 * transaction that writes gets a number, and leaves the list of running transactions when it ends.
 */
const VERSION = 'SELECT pg_current_snapshot()::text';

/** A pet by its id, a page, or any other statement that reads. */
type Read = bigint | PetQuery | Statement;

type ReadCall = Call<Read, unknown>;
type Rows = Extract<Outcome, { rows: unknown }>;
type Failure = Extract<Outcome, { error: unknown }>;

/** The names of groups of calls. Each page, and each other statement, is a group of its own. */
const PETS = 'pets';
const VERSIONS = 'versions';

/**
 * Reads over a few connections. Each connection that has nothing to do takes its share of the waiting calls as one
 * statement: pets by their ids, or all equal queries for a page. A call never gets the response to a statement that was
 * sent before the call, because the response could lack a pet that was acknowledged in the meantime. A call without a
 * definite result, because its connection hangs or is lost, is sent once more.
 *
 * Pages are cached as long as the version of the data is the same. Until then, equal queries return the same page object.
 */
export class Reader {
  readonly #connections: Connections;
  readonly #health: Health;
  readonly #cachesPages: boolean;
  readonly #calls: WaitingCalls<Read, unknown>;
  readonly #pages = new PageCache();
  readonly #pace: ReadPace;
  /** The number of calls that shared the last statement. */
  #lastCount = 0;
  #isScheduled = false;
  #stuckTimer: NodeJS.Timeout | undefined;
  #others = 0;
  /** Whether the last two versions differed. */
  #isChanging = true;
  #isClosed = false;
  #hits = 0;
  #misses = 0;

  /** @param cachesPages whether the version of the data is exact: one server has all the data */
  constructor(connections: Connections, health: Health, cachesPages: boolean) {
    this.#connections = connections;
    this.#health = health;
    this.#cachesPages = cachesPages;
    this.#calls = new WaitingCalls(connections.waitTimeout);
    this.#pace = new ReadPace(connections.max);
    connections.onLost = () => this.#forgetPages();
  }

  find(id: bigint): Promise<Pet | undefined> {
    return this.#addCall(PETS, id) as Promise<Pet | undefined>;
  }

  list(query: PetQuery): Promise<PetPage> {
    const key = pageKey(query);
    const isCached = !this.#isChanging && this.#pages.get(key) !== undefined;
    return this.#addCall(isCached ? VERSIONS : key, query) as Promise<PetPage>;
  }

  /** Runs any other statement that reads. */
  query(statement: Statement): Promise<readonly Row[]> {
    this.#others += 1;
    return this.#addCall(`other ${this.#others}`, statement) as Promise<readonly Row[]>;
  }

  /** How many pages were found in the cache, and how many were read. */
  get pageStatistics(): CacheStatistics {
    return { hits: this.#hits, misses: this.#misses };
  }

  /** The number of reads that wait for a connection. */
  get waiting(): number {
    return this.#calls.count;
  }

  close(): void {
    this.#isClosed = true;
    this.#calls.rejectAll(closedError());
  }

  /**
   * A call that is alone is sent at once. After a statement with several calls, a call is sent at the end of the turn of the
   * event loop, because more are likely to follow.
   */
  #addCall(group: string, item: Read): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(closedError());
    const result = this.#calls.addCall(group, item);
    if (this.#pace.inFlight === 0 && this.#lastCount <= 1) this.#sendWaiting();
    else if (!this.#isScheduled) {
      this.#isScheduled = true;
      setImmediate(this.#sendWaiting);
    }
    return result;
  }

  readonly #sendWaiting = (): void => {
    this.#isScheduled = false;
    const { limit } = this.#pace;
    let free = limit - this.#pace.inFlight;
    for (; free > 0; free--) {
      const group = this.#calls.nextGroup(this.#maySend);
      if (group === undefined) break;
      const share = group === PETS ? this.#pace.shareOf(this.#calls.countOf(PETS), free) : IDS_LIMIT;
      void this.#send(this.#calls.takeCalls(group, Math.min(share, IDS_LIMIT)));
    }
    if (this.#calls.count > 0) this.#stuckTimer ??= setTimeout(this.#onStuck, STUCK).unref();
  };

  /** Equal lists, and checks of the version, that arrive while one is in flight are sent together after it. */
  readonly #maySend = (group: string): boolean => group === PETS || !this.#pace.isInFlight(group);

  readonly #onStuck = (): void => {
    this.#stuckTimer = undefined;
    this.#sendWaiting();
  };

  async #send(calls: readonly ReadCall[]): Promise<void> {
    const sent = this.#pace.begin((calls[0] as ReadCall).group);
    const outcome = await this.#connections.run(this.#statementFor(calls));
    this.#pace.end(sent, calls.length);
    this.#lastCount = calls.length;
    try {
      if ('rows' in outcome) this.#settle(calls, outcome);
      else this.#fail(calls, outcome);
    } catch (error) {
      // A defect of this program. A call that has a result is not changed by this.
      for (const { reject } of calls) reject(error);
    }
    this.#sendWaiting();
  }

  #statementFor([first, ...others]: readonly ReadCall[]): Statement {
    const { group, item } = first as ReadCall;
    if (group === VERSIONS) return { name: 'version', text: VERSION, values: [] };
    if (typeof item === 'bigint') {
      if (others.length === 0) return { name: 'find-one', text: FIND_ONE, values: [item] };
      return { name: 'find', text: FIND, values: [`{${item},${others.map((call) => call.item).join()}}`] };
    }
    return 'text' in item ? item : this.#pageStatement(item);
  }

  /** Reads one pet more than the limit, to find out whether more pets match. */
  #pageStatement({ limit, status, after = INT64_MIN }: PetQuery): Statement {
    const list = status === undefined ? LIST : LIST_BY_STATUS;
    const values = status === undefined ? [after, limit + 1] : [after, limit + 1, status];
    const name = status === undefined ? 'list' : 'list-by-status';
    return { name, text: `SELECT ${this.#cachesPages ? VERSIONED : COLUMNS} ${list}`, values };
  }

  #settle(calls: readonly ReadCall[], { rows, server }: Rows): void {
    this.#health.succeeded('read');
    const { group, item } = calls[0] as ReadCall;
    if (group === VERSIONS) this.#useVersion(calls, `${server} ${rows[0]?.[0]}`);
    else if (typeof item === 'bigint') usePets(calls, rows);
    else if ('text' in item) for (const { resolve } of calls) resolve(rows);
    else this.#usePage(calls, item, rows, server);
  }

  /** Resolves the calls whose pages are up to date. The others are read. */
  #useVersion(calls: readonly ReadCall[], version: string): void {
    this.#isChanging = this.#pages.enter(version);
    for (const call of calls) {
      const key = pageKey(call.item as PetQuery);
      const page = this.#pages.get(key);
      if (page === undefined) this.#calls.putBack([{ ...call, group: key }]);
      else {
        this.#hits += 1;
        call.resolve(page);
      }
    }
  }

  /** A page without pets has no version, and is not cached. */
  #usePage(calls: readonly ReadCall[], query: PetQuery, rows: readonly Row[], server: string): void {
    const key = pageKey(query);
    const version = rows[0]?.[VERSION_COLUMN];
    if (version !== undefined) this.#isChanging = this.#pages.enter(`${server} ${version}`);
    const known = version === undefined ? undefined : this.#pages.get(key);
    const page = known ?? pageOf(rows, query.limit);
    if (known === undefined && version !== undefined) this.#pages.set(key, page);
    this.#misses += 1;
    for (const { resolve } of calls) resolve(page);
  }

  /** The next connection can lead to a server with other data. */
  #forgetPages(): void {
    this.#isChanging = true;
    this.#pages.enter(undefined);
  }

  #fail(calls: readonly ReadCall[], { error, isUnknown, isUnsent }: Failure): void {
    if (isUnsent && this.#pace.inFlight > 0) {
      // The other connections send these calls.
      this.#pace.connectionRefused();
      this.#calls.putBack(calls);
      return;
    }
    this.#forgetPages();
    if (isUnknown && !this.#isClosed) {
      const deadline = performance.now() + this.#connections.waitTimeout;
      const again = calls.filter(({ wasSent }) => !wasSent);
      this.#calls.putBack(again.map((call) => ({ ...call, deadline, wasSent: true })));
      if (again.length === calls.length) return;
    }
    this.#health.failed('read', error);
    const reason = storageError(error);
    for (const { reject, wasSent } of calls) if (!isUnknown || wasSent || this.#isClosed) reject(reason);
  }
}

function usePets(calls: readonly ReadCall[], rows: readonly Row[]): void {
  const pets = new Map(rows.map((row) => [row[0], petOf(row)]));
  for (const { item, resolve } of calls) resolve(pets.get(item));
}

function pageOf(rows: readonly Row[], limit: number): PetPage {
  return Object.freeze({ pets: Object.freeze(rows.slice(0, limit).map(petOf)), more: rows.length > limit });
}
