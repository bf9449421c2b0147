/** Clients that create pets exactly once and read them, through servers that are killed, or whose database fails over. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Answer, Client } from '../../support/client.ts';
import { withRequired } from '../../support/pets.ts';
import { OPERATOR_KEY } from '../../support/process.ts';

const CREATORS = 32;
const READERS = 4;

/** One of this number of creates is sent twice at once, and another one again after its response. */
const REPEATED = 8;

/** In milliseconds: the pause of a client after each response, and before it repeats a request. */
const PAUSE = 10;
const RETRY_PAUSE = 50;

/** How long a client repeats a create, in milliseconds. */
const DEADLINE = 90_000;

/** The number of unexpected responses that are described. */
const SHOWN_FAULTS = 20;

/** Whether a server refuses requests, and since when it does not. */
class Outage {
  /** Whether the last request was successful. */
  isOver = false;
  /** The time when the last outage ended. */
  endedAt: number = Number.NEGATIVE_INFINITY;

  note(isOk: boolean): void {
    if (isOk && !this.isOver) this.endedAt = performance.now();
    this.isOver = isOk;
  }
}

export class Load {
  /** The id of the acknowledged pet of each idempotency key. The name of the pet is the key. */
  readonly acknowledged: Map<string, string> = new Map();
  /** The first unexpected responses. */
  readonly faults: string[] = [];
  /** The state of the writes and of `/readyz`, for each server. */
  readonly writes: readonly Outage[];
  readonly readiness: readonly Outage[];
  /** The number of creates that were refused and sent again. */
  refused = 0;
  readonly #clients: readonly Client[];
  readonly #isKilled: boolean;
  readonly #running: Promise<unknown>;
  #newestId = '';
  #isStopping = false;

  /** @param options whether the servers are killed, so that a lost connection is no fault */
  constructor(ports: readonly number[], { isKilled = false }: { isKilled?: boolean } = {}) {
    this.#isKilled = isKilled;
    this.#clients = ports.map((port) => new Client(`http://127.0.0.1:${port}`, OPERATOR_KEY));
    this.writes = ports.map(() => new Outage());
    this.readiness = ports.map(() => new Outage());
    this.#running = Promise.all([
      ...Array.from({ length: CREATORS }, (_, number) => this.#createAll(number)),
      ...Array.from({ length: READERS }, (_, number) => this.#readAll(number)),
      ...ports.map((_, server) => this.#watchReadiness(server)),
    ]);
  }

  /** Resolves when each create has been acknowledged, and each client has received its last response. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
    for (const client of this.#clients) client.close();
  }

  async #createAll(creator: number): Promise<void> {
    for (let count = 0; !this.#isStopping; count++) {
      const key = `${creator}.${count}`;
      const server = creator + count;
      // Some creates are sent to two servers at the same moment.
      if (count % REPEATED === 0)
        await Promise.all([this.#create(key, server), this.#create(key, server + 1)]);
      else await this.#create(key, server);
      if (count % REPEATED === 1) await this.#create(key, server);
      await sleep(PAUSE);
    }
  }

  /** Repeats a create until it is acknowledged. Each attempt uses the next server. */
  async #create(key: string, first: number): Promise<void> {
    const deadline = performance.now() + DEADLINE;
    for (let attempt = first; performance.now() < deadline; attempt++) {
      const server = attempt % this.#clients.length;
      const answer = await this.#send(server, (client) =>
        client.post(withRequired({ name: key, categoryId: 1 }), { 'Idempotency-Key': key }),
      );
      this.writes[server]?.note(answer?.status === 201);
      if (answer?.status === 201) return this.#acknowledge(key, answer);
      this.refused += 1;
      await sleep(RETRY_PAUSE);
    }
    this.#fault(`the create with key ${key} was not acknowledged within ${DEADLINE / 1000} s`);
  }

  #acknowledge(key: string, { body }: Answer): void {
    const pet = JSON.parse(body);
    const id = String(pet.id);
    if (pet.name !== key || (this.acknowledged.get(key) ?? id) !== id) {
      this.#fault(`key ${key}, pet ${this.acknowledged.get(key)}, got another pet: ${body}`);
    }
    this.acknowledged.set(key, id);
    this.#newestId = id;
  }

  /** Reads the first page, and the newest pet that any server has acknowledged. */
  async #readAll(first: number): Promise<void> {
    for (let count = first; !this.#isStopping; count++) {
      const server = count % this.#clients.length;
      const id = this.#newestId;
      const target = Math.floor(count / this.#clients.length) % 2 === 0 && id ? `/v1/pets/${id}` : '/v1/pets';
      const answer = await this.#send(server, (client) => client.get(target));
      await sleep(answer?.status === 200 ? PAUSE : RETRY_PAUSE);
    }
  }

  async #watchReadiness(server: number): Promise<void> {
    while (!this.#isStopping) {
      const answer = await this.#send(server, (client) => client.request('GET', '/readyz', { key: null }));
      this.readiness[server]?.note(answer?.status === 200);
      await sleep(100);
    }
  }

  /** Resolves with the response. A response other than 200, 201 and 503 is a fault, and so is a lost connection. */
  async #send(server: number, request: (client: Client) => Promise<Answer>): Promise<Answer | undefined> {
    try {
      const answer = await request(this.#clients[server] as Client);
      if (answer.status !== 503 && answer.status > 201)
        this.#fault(`server ${server + 1}: ${answer.status} ${answer.body}`);
      return answer;
    } catch (error) {
      const isLost = error instanceof Error && 'code' in error;
      if (!this.#isKilled || !isLost) this.#fault(`server ${server + 1}: ${error}`);
      return undefined;
    }
  }

  #fault(text: string): void {
    if (this.faults.length < SHOWN_FAULTS) this.faults.push(text);
  }
}

/** A pet in the database. Each pet is named after the idempotency key of its create. */
export interface StoredPet {
  readonly id: string;
  readonly name: string;
}

/** The faults of the stored pets. */
interface Damage {
  readonly lost: readonly string[];
  readonly 'ids given twice': readonly string[];
  readonly 'keys with two pets': readonly string[];
}

export const NO_DAMAGE: Damage = { lost: [], 'ids given twice': [], 'keys with two pets': [] };

/** Compares the acknowledged pets, each with its idempotency key, with the stored pets. */
export function damageOf(
  acknowledged: readonly [key: string, id: string][],
  stored: readonly StoredPet[],
): Damage {
  const names = new Map(stored.map(({ id, name }) => [id, name]));
  return {
    lost: acknowledged.filter(([key, id]) => names.get(id) !== key).map(([key]) => key),
    'ids given twice': repeatedIn(acknowledged.map(([, id]) => id)),
    'keys with two pets': repeatedIn(stored.map(({ name }) => name)),
  };
}

function repeatedIn(values: readonly string[]): string[] {
  const seen = new Set<string>();
  return values.filter((value) => seen.size === seen.add(value).size);
}
