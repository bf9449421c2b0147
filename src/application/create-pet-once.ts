import { AnimalStoreError } from '../domain/errors.ts';
import { idempotencyKey } from '../domain/idempotency-key.ts';
import { isSamePet, type NewPetInput, newPet } from '../domain/pet.ts';
import { type CreateResult, DAY, type IdempotentCreates } from './ports/idempotent-creates.ts';
import type { CallOptions } from './ports/pet-repository.ts';

/** The caller of a program that calls the store directly. The id of an API key is never empty. */
export const THIS_PROGRAM = '';

/** How long an idempotency key protects against a second pet: the default, and the maximum. */
export const IDEMPOTENCY_DAYS = 1;
export const IDEMPOTENCY_DAYS_MAX = 90;

/** Creates a pet exactly once for each caller and idempotency key, so that a client can retry a create. */
export class CreatePetOnce {
  readonly #creates: IdempotentCreates;
  readonly #now: () => number;
  readonly #days: number;

  /** @param days how long a create that is made here can be retried */
  constructor(creates: IdempotentCreates, now: () => number = Date.now, days: number = IDEMPOTENCY_DAYS) {
    this.#creates = creates;
    this.#now = now;
    this.#days = days;
  }

  /**
   * Stores a pet, or resolves with the pet that a call with the same caller and key has stored, as long as the record of that
   * call is valid. Rejects with `invalid_request` when the pet or the key breaks a rule, and with `idempotency_conflict` when
   * the stored pet differs.
   */
  async execute(
    input: NewPetInput,
    caller: string,
    key: string,
    options?: CallOptions,
  ): Promise<CreateResult> {
    const pet = newPet(input);
    const name = idempotencyKey(key);
    const at = this.#now();
    const attempt = { caller, key: name, at, validUntil: at + this.#days * DAY };
    const result = await this.#creates.add(pet, attempt, options);
    if (result.isReplay && !isSamePet(result.pet, pet)) {
      throw new AnimalStoreError(
        'idempotency_conflict',
        'the Idempotency-Key was used for a different pet: use a new key for each pet',
      );
    }
    return result;
  }
}
