/** One server on one file: started, checked, loaded, stopped, and then the file is counted. */

import { checkAnswers } from './answers.ts';
import { API_KEY, lastId, petsAfter, workingCopy } from './data.ts';
import { runClosed } from './load/closed.ts';
import { CpuMeter } from './processes.ts';
import { LIMIT, type RunningServer, type ServerName, type StartOptions, startServer } from './servers.ts';
import { type Work, writes } from './works.ts';

/** A short measurement on a busy machine may see no answer at all; one of so many seconds must see some. */
const PATIENCE = 5;

/** Throws instead of letting wrong answers or lost creates become figures. */
export class Session {
  readonly server: RunningServer;
  readonly #file: string;
  readonly #pets: number;
  readonly #lastId: number;
  readonly #listLength: number;
  #createdAtLeast: number;
  #createdAtMost: number;

  private constructor(
    server: RunningServer,
    { file, pets, lastId, listLength, created }: Readonly<SessionFacts>,
  ) {
    this.server = server;
    this.#file = file;
    this.#pets = pets;
    this.#lastId = lastId;
    this.#listLength = listLength;
    this.#createdAtLeast = created;
    this.#createdAtMost = created;
  }

  /** `use` gets a server that answers rightly, and has it for itself. */
  static async run<T>(options: SessionOptions, use: (session: Session) => Promise<T>): Promise<T> {
    const { name, file: template, pets, ...rest } = options;
    const file = workingCopy(template);
    const facts = { file, pets, lastId: lastId(file) };
    const server = await startServer(name, { ...rest, file });
    const checked = name === LIMIT ? { listLength: 0, created: 0 } : await checkAnswers(server, file);
    const session = new Session(server, { ...facts, ...checked });
    const result = await use(session);
    await server.stop();
    session.#checkFile();
    return result;
  }

  /** Load as fast as it is answered. */
  async load(work: Work, { seconds, connections }: ClosedOptions): Promise<Figures> {
    const { origin, pid } = this.server;
    const meter = new CpuMeter(pid);
    const load = { origin, work, pets: this.#pets, key: API_KEY, seconds, connections };
    let result = await runClosed(load);
    if (result.requests === 0) {
      this.noteCreates(0, result.createsSent);
      result = await runClosed({ ...load, seconds: Math.max(seconds, PATIENCE) });
    }
    meter.sample();
    await this.#settle();

    const { requests, refused, broken, bytes, createsSent } = result;
    if (requests === 0 || refused > 0 || broken > 0) {
      this.#fail(`${work}: of ${requests} answers ${refused} were not 2xx, ${broken} connections failed`);
    }
    if (work === 'list' && bytes < requests * this.#listLength) this.#fail(`${work}: answers are too short`);
    if (writes(work)) {
      const answered = work === 'create' ? requests : createsSent - connections;
      this.noteCreates(Math.max(0, answered), createsSent);
    }
    return {
      perSecond: requests / result.seconds,
      min: result.min,
      p50: result.p50,
      p99: result.p99,
      loadShare: result.share,
      serverShare: meter.share(),
    };
  }

  /** What the file must have at the end: every create that was answered, none that was not sent. */
  noteCreates(answered: number, sent: number): void {
    this.#createdAtLeast += answered;
    this.#createdAtMost += sent;
  }

  /** Answers that the generator no longer waited for are finished before anything else is measured. */
  async #settle(): Promise<void> {
    const headers = { Authorization: `Bearer ${API_KEY}` };
    const response = await fetch(`${this.server.origin}/v1/pets?limit=1`, { headers });
    await response.text();
    if (response.status !== 200) this.#fail(`the answer after a load is ${response.status}`);
  }

  #checkFile(): void {
    if (this.server.name === LIMIT) return;
    const found = petsAfter(this.#file, this.#lastId);
    if (found < this.#createdAtLeast || found > this.#createdAtMost) {
      this.#fail(
        `the file has ${found} new pets; ${this.#createdAtLeast} were acknowledged, ${this.#createdAtMost} sent`,
      );
    }
  }

  #fail(reason: string): never {
    throw new Error(`${this.server.name}: ${reason}`);
  }
}

export interface SessionOptions extends StartOptions {
  readonly name: ServerName;
  /** How many pets `file` was filled with. */
  readonly pets: number;
}

export interface ClosedOptions {
  readonly seconds: number;
  readonly connections: number;
}

/** One measurement; times in milliseconds, shares of one core. */
export interface Figures {
  readonly perSecond: number;
  readonly min: number;
  readonly p50: number;
  readonly p99: number;
  readonly loadShare: number | undefined;
  readonly serverShare: number | undefined;
}

interface SessionFacts {
  readonly file: string;
  readonly pets: number;
  readonly lastId: number;
  readonly listLength: number;
  readonly created: number;
}
