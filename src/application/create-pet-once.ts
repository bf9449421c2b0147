import { AnimalStoreError } from '../domain/errors.ts';
import { idempotencyKey } from '../domain/idempotency-key.ts';
import { isSamePet, type NewPetInput, newPet } from '../domain/pet.ts';
import { checkArgument, STRING } from './arguments.ts';
import type { CreateResult, IdempotentCreates } from './ports/idempotent-creates.ts';
import type { CallOptions } from './ports/pet-repository.ts';

/** The caller of a program that calls the store directly. The id of an API key is never empty. */
export const THIS_PROGRAM = '';

/** How long an idempotency key protects against a second pet, in milliseconds. */
export const IDEMPOTENCY_LIFETIME: number = 24 * 60 * 60 * 1000;

/** The maximum number of records that one statement removes or changes. Other writes wait for its transaction. */
const REMOVAL_STEP = 500;

/** Creates a pet exactly once for each caller and idempotency key, so that a client can repeat a create. */
export class CreatePetOnce {
  readonly #creates: IdempotentCreates;
  readonly #now: () => number;

  constructor(creates: IdempotentCreates, now: () => number = Date.now) {
    this.#creates = creates;
    this.#now = now;
  }

  /**
   * Stores a pet, or resolves with the pet that a call with the same caller and key has stored within 24 hours. Rejects with
   * `invalid_request` when the pet or the key breaks a rule, and with `idempotency_conflict` when the stored pet differs.
   */
  async execute(
    input: NewPetInput,
    caller: string,
    key: string,
    options?: CallOptions,
  ): Promise<CreateResult> {
    checkArgument('caller', caller, STRING);
    const pet = newPet(input);
    const at = this.#now();
    const attempt = { caller, key: idempotencyKey(key), at, validFrom: at - IDEMPOTENCY_LIFETIME };
    const result = await this.#creates.add(pet, attempt, options);
    if (result.isReplay && !isSamePet(result.pet, pet)) {
      throw new AnimalStoreError(
        'idempotency_conflict',
        'the Idempotency-Key was used for a different pet: use a new key for each pet',
      );
    }
    return result;
  }

  /** Removes old records, and redates records from the future. Resolves with `true` when more of them may exist. */
  async removeOldRecords(): Promise<boolean> {
    const now = this.#now();
    const numbers = await Promise.all([
      this.#creates.redateRecords(now, REMOVAL_STEP),
      this.#creates.removeRecords(now - IDEMPOTENCY_LIFETIME, REMOVAL_STEP),
    ]);
    return numbers.includes(REMOVAL_STEP);
  }
}
