/** Sends many messages to one server, several at a time, and checks every exchange. When it exits, those in flight are faults. */

import { withRequired } from '../support/pets.ts';
import { exchange } from './client/exchange.ts';
import type { Message } from './messages/message.ts';
import { FIRST_PETS, type Keys, keysOf, PROTECTED_NAME } from './messages/request.ts';
import { SEED } from './options.ts';
import { Ledger } from './oracle/ledger.ts';
import { judge } from './oracle/message-rules.ts';
import { FaultsServer } from './server.ts';

/** The number of messages in flight. */
const CONCURRENCY = 32;

/** Further faults are only counted. */
const SHOWN_FAULTS = 8;

export interface Outcome {
  messages: number;
  /** The number of messages that were refused: at least one of their responses is an error. */
  refused: number;
  faults: number;
  /** The first faults, each with the message that reproduces it. */
  readonly shown: string[];
}

export class Campaign {
  readonly keys: Keys = keysOf(SEED);
  readonly ledger: Ledger = new Ledger();
  readonly server: FaultsServer;

  private constructor(server: FaultsServer) {
    this.server = server;
  }

  static async start(): Promise<Campaign> {
    const keys = Object.values(keysOf(SEED));
    const campaign = new Campaign(await FaultsServer.start({ keys, logLevel: 'debug' }));
    for (let count = 1; count <= FIRST_PETS; count += 1) await campaign.#createFirst(count);
    return campaign;
  }

  /**
   * Sends messages, one at a time on each connection.
   *
   * @param origin where to, such as a proxy in front of the server
   * @param rules describes every fault of an exchange
   */
  async run(
    messages: Iterable<Message>,
    origin: string = this.server.origin,
    rules: typeof judge = judge,
  ): Promise<Outcome> {
    const outcome: Outcome = { messages: 0, refused: 0, faults: 0, shown: [] };
    const iterator = messages[Symbol.iterator]();
    const work = async () => {
      for (let next = iterator.next(); !next.done; next = iterator.next())
        await this.#try(next.value, outcome, origin, rules);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, work));
    return outcome;
  }

  async #try(message: Message, outcome: Outcome, origin: string, rules: typeof judge): Promise<void> {
    outcome.messages += 1;
    const result = await exchange(origin, message).catch((error: unknown) => String(error));
    if (typeof result === 'string') {
      this.ledger.noteLost(message);
      report(outcome, message, [result]);
      return;
    }
    this.ledger.note(message, result);
    if (result.responses.some(({ status }) => status >= 400)) outcome.refused += 1;
    report(outcome, message, rules(message, result));
  }

  async #createFirst(count: number): Promise<void> {
    const { status, body } = await this.server
      .clientWith(this.keys.operator)
      .post(withRequired({ name: `${PROTECTED_NAME} ${count}`, categoryId: count }));
    if (status !== 201) throw new Error(`the first pets: ${status}`);
    this.ledger.acknowledge(body);
  }
}

function report(outcome: Outcome, message: Message, faults: readonly string[]): void {
  outcome.faults += faults.length;
  for (const fault of faults) {
    if (outcome.shown.length < SHOWN_FAULTS) outcome.shown.push(describe(message, fault));
  }
}

function describe({ number, recipe, bytes, delivery }: Message, fault: string): string {
  const { cuts, sent, ending } = delivery;
  const how = `${cuts.length + 1} segments, ${sent} of ${bytes.length} bytes, ${ending}`;
  const text = JSON.stringify(bytes.toString('latin1', 0, 300));
  return `FAULTS_SEED=${SEED} FAULTS_ONLY=${number}: ${recipe} (${how})\n  ${fault}\n  ${text}`;
}
