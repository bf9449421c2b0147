/** Compares the pets that the server acknowledged with the pets that it stores. */

import type { Exchange } from '../client/exchange.ts';
import { nameOf } from '../commands.ts';
import type { Message } from '../messages/message.ts';
import { SMUGGLED } from '../messages/request.ts';

export class Ledger {
  readonly #acknowledged: string[] = [];
  /** Names of pets that may be stored although their request got no response. */
  readonly #uncertain: string[] = [];
  /** Names of pets whose request got a status other than 201, and that status. */
  readonly #refused = new Map<string, string>();

  get size(): number {
    return this.#acknowledged.length;
  }

  /** @param pet from the body of a 201 */
  acknowledge(pet: string): void {
    this.#acknowledged.push(pet);
  }

  note(message: Message, { responses, end }: Exchange): void {
    const created = responses.filter(({ status }) => status === 201);
    for (const { body } of created) this.acknowledge(body.toString());
    responses.forEach(({ status }, index) => {
      const name = message.requests[index]?.pet?.name;
      if (status !== 201 && name !== undefined) {
        this.#refused.set(name, `the ${status} of FAULTS_ONLY=${message.number}`);
      }
    });
    if (message.delivery.ending !== 'wait' || end === 'reset') this.noteLost(message, responses.length);
  }

  /** Notes requests whose connection broke before their responses arrived. */
  noteLost({ requests }: Message, responses = 0): void {
    for (const { pet, hasGoodKey } of requests.slice(responses)) {
      if (pet !== undefined && hasGoodKey) this.#uncertain.push(pet.name);
    }
  }

  /**
   * Describes what is wrong with the store. Each acknowledged pet must be stored once and exactly as it was acknowledged.
   * Other pets may only come from requests whose connection broke.
   *
   * @param exported the lines of an export
   */
  faultsOf(exported: readonly string[]): string[] {
    const unknown = new Map(exported.map((line) => [line, nameOf(line)]));
    const faults: string[] = [];
    if (unknown.size !== exported.length) faults.push('the same pet twice in the export');
    for (const pet of this.#acknowledged) {
      if (!unknown.delete(pet)) faults.push(`acknowledged, but not stored: ${pet}`);
    }
    // A message that is sent twice, because its test was tried again, can lose its response twice.
    const uncertain = [...this.#uncertain];
    for (const name of unknown.values()) {
      const at = uncertain.indexOf(name);
      if (name.startsWith(SMUGGLED)) faults.push(`a smuggled request ran: ${name}`);
      else if (at >= 0) uncertain.splice(at, 1);
      else faults.push(`stored, but ${this.#refused.get(name) ?? 'never acknowledged'}: ${name}`);
    }
    return faults;
  }
}
