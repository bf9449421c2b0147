import type { CreateResult, IdempotentCreates } from '../../application/ports/idempotent-creates.ts';
import type {
  CallOptions,
  PetPage,
  PetQuery,
  PetRepository,
} from '../../application/ports/pet-repository.ts';
import { isSamePet, type NewPet, type Pet } from '../../domain/pet.ts';
import { newPetJson, parsePet } from '../../domain/pet-json.ts';
import { unknownOutcome, unreadable } from './errors.ts';
import { readPage } from './pages.ts';
import type { Send } from './request.ts';

const KEY_BYTES = 16;

/** Stores the pets at a server. */
export class ApiPetRepository implements PetRepository {
  readonly #base: string;
  readonly #send: Send;
  readonly #writes = new Set<Promise<unknown>>();

  constructor(base: string, send: Send) {
    this.#base = base;
    this.#send = send;
  }

  list(query: PetQuery, options?: CallOptions): Promise<PetPage> {
    return readPage(this.#base, this.#send, query, options);
  }

  /** Reads a list, because the operation that reads one pet is deprecated. */
  async find(id: bigint, options?: CallOptions): Promise<Pet | undefined> {
    if (id < 1n) return undefined;
    const { pets } = await this.list({ limit: 1, after: id - 1n }, options);
    return pets[0]?.id === id ? pets[0] : undefined;
  }

  /** Each create has an idempotency key, so that a retry stores no second pet. */
  async add(pet: NewPet, options?: CallOptions): Promise<Pet> {
    return (await this.addOnce(pet, { caller: '', key: newKey() }, options)).pet;
  }

  async addOnce(
    pet: NewPet,
    attempt: Pick<Parameters<IdempotentCreates['add']>[1], 'caller' | 'key'>,
    options?: CallOptions,
  ): Promise<CreateResult> {
    const create = this.#create({ ...pet }, attempt, options);
    this.#writes.add(create);
    return await create.finally(() => this.#writes.delete(create));
  }

  async settleWrites(): Promise<void> {
    await Promise.allSettled(this.#writes);
  }

  async #create(
    newPet: NewPet,
    { caller, key }: { readonly caller: string; readonly key: string },
    options: CallOptions | undefined,
  ): Promise<CreateResult> {
    const create = { body: newPetJson(newPet), key, sentKey: sentKey(caller, key) };
    const request = { method: 'POST', accepted: [201], create };
    const { headers, text } = await this.#send('createPet', `${this.#base}/pets`, request, options);
    try {
      const pet = Object.freeze(parsePet(text));
      if (!isSamePet(pet, newPet)) throw new Error('the response has another pet');
      return { pet, isReplay: headers.get('Idempotency-Replayed') === 'true' };
    } catch (error) {
      throw unknownOutcome(unreadable(this.#base, error), key);
    }
  }
}

/**
 * Returns the key that the server gets, to which all callers here are one. It is different for each pair of a caller and a
 * key, because an encoded caller contains no slash.
 */
function sentKey(caller: string, key: string): string {
  return caller === '' && !key.includes('/') ? key : `${encodeURIComponent(caller)}/${key}`;
}

/** Returns a new idempotency key. `crypto.randomUUID` is missing on pages that a browser has loaded over HTTP. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
