import { checkedCaller, keyConflict } from '../domain/idempotency-key.ts';
import { isSamePet, type NewPetInput, newPet } from '../domain/pet.ts';
import { checkArgument, type Rule, supported } from './arguments.ts';
import { type Caller, type CreateResult, DAY, type IdempotentCreates } from './ports/idempotent-creates.ts';
import type { CallOptions, PetRepository } from './ports/pet-repository.ts';

/** Identifies a program that uses the store directly. Its `caller` is empty, unlike the `caller` of an API key. */
export function programWith(key: string | undefined): Caller | undefined {
  return key === undefined ? undefined : { caller: '', key };
}

/** The default and the maximum number of days for which a write with an idempotency key can be retried. */
export const IDEMPOTENCY_DAYS = 1;
export const IDEMPOTENCY_DAYS_MAX = 90;
export const DAYS: Rule = {
  expected: `an integer from 1 to ${IDEMPOTENCY_DAYS_MAX}`,
  accepts: (value) => Number.isInteger(value) && Number(value) >= 1 && Number(value) <= IDEMPOTENCY_DAYS_MAX,
};

/** Returns the lifetime of an idempotency record in milliseconds. Throws `invalid_request` for an invalid number of days. */
export function lifetimeOf(days: number = IDEMPOTENCY_DAYS): number {
  checkArgument('idempotencyDays', days, DAYS);
  return days * DAY;
}

/** The options of {@link CreatePet}. */
export interface CreatePetOptions {
  /** Without this port, a create with an idempotency key is refused. */
  readonly creates?: IdempotentCreates | undefined;
  /** The number of days for which a create with an idempotency key can be retried. Default: 1. */
  readonly days?: number | undefined;
}

/**
 * The use case of `POST /pets`: creates a pet, once for each caller and idempotency key.
 *
 * @example
 * ```ts
 * import { CreatePet, ListPets } from 'animal-store';
 * import { openMemoryStorage } from 'animal-store/memory';
 *
 * const { pets, idempotentCreates: creates } = openMemoryStorage();
 * const createPet = new CreatePet(pets, { creates });
 * const create = () => createPet.execute({ name: 'Rex', categoryId: 7n }, { caller: 'a', key: '1' });
 * const [first, retried] = [await create(), await create()];
 * console.log(first.isReplay, retried.isReplay); // false true
 * const page = await new ListPets(pets).execute({ limit: 10 });
 * console.log(page.pets.length); // 1
 * ```
 */
export class CreatePet {
  readonly #pets: PetRepository;
  readonly #creates: IdempotentCreates | undefined;
  readonly #validFor: number;

  constructor(pets: PetRepository, { creates, days }: CreatePetOptions = {}) {
    this.#pets = pets;
    this.#creates = creates;
    this.#validFor = lifetimeOf(days);
  }

  /**
   * Resolves when the pet is durable. A later call with the same caller and key resolves with the pet of the first call. Rejects
   * with `invalid_request` when the pet, the caller or the key breaks a rule, and with `idempotency_conflict` when the key was used
   * for a different request.
   */
  async execute(input: NewPetInput, by?: Caller, options?: CallOptions): Promise<CreateResult> {
    if (by === undefined) return { pet: await this.#pets.add(newPet(input), options), isReplay: false };
    const creates = supported(this.#creates, 'the idempotency key');
    const pet = newPet(input);
    const attempt = { ...checkedCaller(by), validFor: this.#validFor };
    const result = await creates.add(pet, attempt, options);
    if (result.isReplay && !isSamePet(result.pet, pet)) throw keyConflict('pet');
    return result;
  }
}
