/** Runs one server on one database: starts the server, checks its responses, applies load, stops it, and counts the pets. */

import { API_KEY, type Data, lastId, petsAfter, sqliteData, workingCopy } from './data.ts';
import { runClosed } from './load/closed.ts';
import { isPostgres, postgresData } from './postgres.ts';
import { CpuMeter } from './processes.ts';
import { checkResponses } from './responses.ts';
import { LIMIT, type RunningServer, type ServerName, type StartOptions, startServer } from './servers.ts';
import { type Work, writes } from './works.ts';

/**
 * The minimum duration of a second attempt, in seconds. A short measurement on a busy machine may get no response, but a second
 * attempt must get a response.
 */
const PATIENCE = 5;

function dataOf(source: string): Data {
  if (isPostgres(source)) return postgresData(source);
  return sqliteData(workingCopy(source));
}

/** A run of one server. Wrong responses and lost creates cause an error, so that the figures of a faulty run are never reported. */
export class Session {
  readonly server: RunningServer;
  readonly #facts: SessionFacts;
  #createdAtLeast: number;
  #createdAtMost: number;

  private constructor(server: RunningServer, facts: SessionFacts) {
    this.server = server;
    this.#facts = facts;
    this.#createdAtLeast = facts.created;
    this.#createdAtMost = facts.created;
  }

  /** Starts a server, and checks its responses. Calls `use` with a session that nothing else uses. */
  static async run<T>(options: SessionOptions, use: (session: Session) => Promise<T>): Promise<T> {
    const { name, source, pets, idempotencyKeys = false, ...rest } = options;
    const data = dataOf(source);
    const facts = { data, pets, lastId: await lastId(data) };
    const server = await startServer(name, { ...rest, url: data.url });
    const checked = name === LIMIT ? { listLength: 0, created: 0 } : await checkResponses(server, data);
    const session = new Session(server, { ...facts, ...checked, idempotencyKeys });
    const result = await use(session);
    await server.stop();
    await session.#checkData();
    return result;
  }

  /** Applies load. Each connection sends its next request as soon as it has a response. */
  async load(work: Work, { seconds, connections }: ClosedOptions): Promise<Figures> {
    const { origin, pid } = this.server;
    const meter = new CpuMeter(pid);
    const { pets, idempotencyKeys } = this.#facts;
    const epoch = work === 'changes' ? await this.#epoch() : undefined;
    const load = { origin, work, pets, key: API_KEY, seconds, connections, idempotencyKeys, epoch };
    let result = await runClosed(load);
    if (result.requests === 0) {
      this.noteCreates(0, result.createsSent);
      result = await runClosed({ ...load, seconds: Math.max(seconds, PATIENCE) });
    }
    meter.sample();
    await this.#settle();

    const { requests, refused, broken, bytes, createsSent } = result;
    if (requests === 0 || refused > 0 || broken > 0) {
      this.#fail(`${work}: ${refused} of ${requests} responses were not 2xx, ${broken} connections failed`);
    }
    if (work === 'list' && bytes < requests * this.#facts.listLength)
      this.#fail(`${work}: responses are too short`);
    if (writes(work)) {
      const acknowledged = work === 'create' ? requests : createsSent - connections;
      this.noteCreates(Math.max(0, acknowledged), createsSent);
    }
    const { min, p50, p90, p99, longest, share: loadShare } = result;
    const perSecond = requests / result.seconds;
    return { perSecond, min, p50, p90, p99, longest, loadShare, serverShare: meter.share() };
  }

  /**
   * Counts creates. At the end of the session, the database must contain every acknowledged create, and no create that was not
   * sent.
   */
  noteCreates(acknowledged: number, sent: number): void {
    this.#createdAtLeast += acknowledged;
    this.#createdAtMost += sent;
  }

  /** Waits for the requests that the generator has abandoned, because they would affect the next measurement. */
  async #settle(): Promise<void> {
    await this.#get('/v1/pets?limit=1');
  }

  /** Reads the epoch, with which every cursor of changes begins. */
  async #epoch(): Promise<string> {
    return /"cursor":"(\w+)-/.exec(await this.#get('/v1/changes?limit=1'))?.[1] ?? '';
  }

  async #get(path: string): Promise<string> {
    const headers = { Authorization: `Bearer ${API_KEY}` };
    const response = await fetch(this.server.origin + path, { headers });
    if (response.status !== 200) this.#fail(`the response to ${path} has status ${response.status}`);
    return response.text();
  }

  async #checkData(): Promise<void> {
    if (this.server.name === LIMIT) return;
    const found = await petsAfter(this.#facts.data, this.#facts.lastId);
    if (found < this.#createdAtLeast || found > this.#createdAtMost) {
      this.#fail(
        `the database has ${found} new pets; ${this.#createdAtLeast} were acknowledged, ${this.#createdAtMost} sent`,
      );
    }
  }

  #fail(reason: string): never {
    throw new Error(`${this.server.name}: ${reason}`);
  }
}

export interface SessionOptions extends Omit<StartOptions, 'url'> {
  readonly name: ServerName;
  /** The path of an SQLite file, or the URL of a PostgreSQL database. A file is copied, and a database is used directly. */
  readonly source: string;
  /** The number of pets in `source`. */
  readonly pets: number;
  /** Whether each create and change has a new `Idempotency-Key`. By default, they have none. */
  readonly idempotencyKeys?: boolean;
}

export interface ClosedOptions {
  readonly seconds: number;
  readonly connections: number;
}

/** The figures of one measurement. Times are in milliseconds, and shares are shares of one core. */
export interface Figures {
  readonly perSecond: number;
  readonly min: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  /** The longest time that a client waited for a response. */
  readonly longest: number;
  readonly loadShare: number | undefined;
  readonly serverShare: number | undefined;
}

interface SessionFacts {
  readonly data: Data;
  readonly pets: number;
  readonly lastId: number;
  readonly listLength: number;
  readonly created: number;
  readonly idempotencyKeys: boolean;
}
