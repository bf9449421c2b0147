import { AnimalStoreError } from '../domain/errors.ts';
import { idempotencyKey } from '../domain/idempotency-key.ts';
import { isSamePet, type NewPetInput, newPet } from '../domain/pet.ts';
import { checkArgument, STRING } from './arguments.ts';
import { type CreateResult, DAY, type IdempotentCreates } from './ports/idempotent-creates.ts';
import type { CallOptions } from './ports/pet-repository.ts';

/** The caller of a program that calls the store directly. The id of an API key is never empty. */
export const THIS_PROGRAM = '';

/** How long an idempotency key protects against a second pet: the default, and the maximum. */
export const IDEMPOTENCY_DAYS = 1;
export const IDEMPOTENCY_DAYS_MAX = 90;

/** How long a create uses the promises that were read last, in milliseconds. The removal of records reads them each time. */
const PROMISES_AGE = 60 * 60 * 1000;

/** The maximum number of records that one statement removes or changes. Other writes wait for its transaction. */
const REMOVAL_STEP = 500;

/** Creates a pet exactly once for each caller and idempotency key, so that a client can repeat a create. */
export class CreatePetOnce {
  readonly #creates: IdempotentCreates;
  readonly #now: () => number;
  readonly #days: number;
  #known: { readonly days: number; readonly at: number } | undefined;
  #promising: Promise<number> | undefined;

  /** @param days how long a create can be repeated, unless another server of the store promises more */
  constructor(creates: IdempotentCreates, now: () => number = Date.now, days: number = IDEMPOTENCY_DAYS) {
    this.#creates = creates;
    this.#now = now;
    this.#days = days;
  }

  /**
   * Stores a pet, or resolves with the pet that a call with the same caller and key has stored within 24 hours, or within
   * the days that a server of the store promises. Rejects with `invalid_request` when the pet or the key breaks a rule,
   * and with `idempotency_conflict` when the stored pet differs.
   */
  async execute(
    input: NewPetInput,
    caller: string,
    key: string,
    options?: CallOptions,
  ): Promise<CreateResult> {
    checkArgument('caller', caller, STRING);
    const pet = newPet(input);
    const name = idempotencyKey(key);
    const known = this.#known;
    // The clock can have been set back.
    const isNew = known !== undefined && Math.abs(this.#now() - known.at) < PROMISES_AGE;
    const days = isNew ? known.days : await this.days();
    const at = this.#now();
    const attempt = { caller, key: name, at, validFrom: at - days * DAY };
    const result = await this.#creates.add(pet, attempt, options);
    if (result.isReplay && !isSamePet(result.pet, pet)) {
      throw new AnimalStoreError(
        'idempotency_conflict',
        'the Idempotency-Key was used for a different pet: use a new key for each pet',
      );
    }
    return result;
  }

  /** Resolves with the number of days for which a create can be repeated. */
  days(): Promise<number> {
    this.#promising ??= this.#promise().finally(() => {
      this.#promising = undefined;
    });
    return this.#promising;
  }

  /** Removes old records, and redates records from the future. Resolves with `true` when more of them may exist. */
  async removeOldRecords(): Promise<boolean> {
    const days = await this.days();
    const now = this.#now();
    const numbers = await Promise.all([
      this.#creates.redateRecords(now, REMOVAL_STEP),
      this.#creates.removeRecords(now - days * DAY, REMOVAL_STEP),
    ]);
    return numbers.includes(REMOVAL_STEP);
  }

  async #promise(): Promise<number> {
    const at = this.#now();
    const days = await this.#creates.promiseDays(this.#days, at);
    this.#known = { days, at };
    return days;
  }
}
