/// <reference lib="esnext.disposable" preserve="true" />

import type { NewPetInput, Pet } from '../domain/pet.ts';
import type { PetChange } from '../domain/pet-change.ts';
import { checkOptions, type OptionRules, supported } from './arguments.ts';
import {
  type Change,
  type ChangeFunction,
  type ChangeUseCases,
  changeByFunction,
  tagsOf,
  withEntityTags,
} from './change-calls.ts';
import type { ChangeResult } from './change-pet.ts';
import { programWith } from './create-pet.ts';
import type { TaggedPet } from './entity-tag.ts';
import { idOf } from './get-pet.ts';
import type { ChangesList, ChangesPageQuery } from './list-changes.ts';
import type { PetPageQuery } from './list-pets.ts';
import type { Caller, CreateResult } from './ports/idempotent-creates.ts';
import type { CallOptions, PetPage } from './ports/pet-repository.ts';
import { closedError, type StoreStorage } from './ports/storage.ts';
import {
  CALL_OPTIONS,
  CHANGE_OPTIONS,
  CHANGES_QUERY,
  type ChangeOptions,
  CREATE_OPTIONS,
  type CreateOptions,
  FOLLOW_CHANGES_OPTIONS,
  FOLLOW_OPTIONS,
  type FollowChangesOptions,
  type FollowOptions,
  type PetWalk,
  QUERY,
} from './store-options.ts';
import { abortedWrite, itemsUntilAborted, untilAborted, type Write } from './until-aborted.ts';
import { createPetUseCases, type UseCases } from './use-cases.ts';
import { follow, walkPages } from './walk-pages.ts';

/** A store with the calls that the HTTP API of a server also supports. After `close`, every other call rejects. */
export class BasicStore implements AsyncDisposable {
  protected readonly storage: StoreStorage;
  protected readonly useCases: UseCases;
  /** Aborted when the store is closed. */
  protected readonly closing: AbortController = new AbortController();
  readonly #writes = new Set<Promise<unknown>>();
  #closed: Promise<void> | undefined;

  /** @param storage is closed with the store */
  constructor(storage: StoreStorage, useCases: UseCases = createPetUseCases(storage)) {
    this.storage = storage;
    this.useCases = useCases;
  }

  /**
   * Creates a pet, and resolves when it is durable. Rejects with `invalid_request` when the input breaks a rule, and with
   * `idempotency_conflict` when the idempotency key was used for a different request.
   *
   * @example
   * ```ts
   * const pet = await store.createPet({ name: 'Rex', categoryId: 7n, status: 'sold' });
   * console.log(pet.id); // 1n
   * ```
   */
  async createPet(input: NewPetInput, options?: CreateOptions): Promise<Pet> {
    return (await this.createPetOnce(input, undefined, options)).pet;
  }

  /**
   * Creates a pet exactly once for each caller and idempotency key, as `CreatePet.execute` describes. Without a `caller`, this
   * program is the caller, and the option `idempotencyKey` is its key.
   */
  async createPetOnce(input: NewPetInput, caller?: Caller, options?: CreateOptions): Promise<CreateResult> {
    return await this.#write('create', caller, options, CREATE_OPTIONS, (by) =>
      this.useCases.createPet.execute(input, by, options),
    );
  }

  /**
   * Yields the matching pets in ascending order of id. Even while pets are added, each pet that existed at the beginning is yielded
   * exactly once, unless it is removed or no longer matches. Reads a page only when its pets are needed. If the store
   * is on a server, the timeout applies to each page. Rejects with `invalid_request` for an invalid query.
   */
  async *listPets(query?: PetWalk, options?: CallOptions): AsyncGenerator<Pet, void, undefined> {
    const pages = walkPages((page) => this.listPage(page, options), query);
    for await (const pets of pages) yield* itemsUntilAborted(pets, options?.signal);
  }

  /**
   * Yields the matching pets in ascending order of id, and then, for ever, each new matching pet. Each pet is yielded exactly once.
   * To continue in a later call, set `after` to the id of the last pet that was yielded. Waits while the store is unavailable, but
   * rejects when the first read fails.
   */
  followPets(options: FollowOptions = {}): AsyncGenerator<Pet, void, undefined> {
    const read = async (query: PetPageQuery, call: CallOptions) => {
      const { pets: items, more } = await this.listPage(query, call);
      return { items, next: items.at(-1)?.id, more };
    };
    return follow(read, options, FOLLOW_OPTIONS, this.closing.signal, this.storage.isRemote);
  }

  /**
   * Resolves with one page of the matching pets in ascending order of id. Rejects with `invalid_request` for an invalid query.
   *
   * @example
   * ```ts
   * const { pets, more } = await store.listPage({ limit: 100 });
   * const nextPage = more ? await store.listPage({ limit: 100, after: pets.at(-1)?.id }) : undefined;
   * ```
   */
  async listPage(query?: PetPageQuery, options?: CallOptions): Promise<PetPage> {
    this.assertCallable(options);
    if (query !== undefined) checkOptions(query, QUERY);
    return await this.#ended(this.useCases.listPets.execute(query, options), options);
  }

  /**
   * Resolves with the pet that has this id. Rejects with `not_found` when there is no such pet, and with `invalid_request` when the
   * id is neither a `bigint` nor a safe integer.
   */
  async getPet(id: bigint | number, options?: CallOptions): Promise<Pet> {
    this.assertCallable(options);
    return await this.#ended(this.useCases.getPet.execute(id, options), options);
  }

  /**
   * Changes attributes of a pet, and resolves when the change is durable. An attribute that is absent from the change stays as it
   * is, and `null` removes an optional attribute. If the change is a function, calls it with the present pet. Without `ifMatch`,
   * calls it again each time another writer was faster. Rejects with `invalid_request` when the change or an option breaks a rule,
   * with `idempotency_conflict` when the idempotency key was used for a different request, with `not_found` when there is no such
   * pet, with `precondition_failed` when the pet has none of the entity tags in `ifMatch`, with `invalid_transition` when an
   * attribute cannot change to the given value, and with `overloaded` when other writers were faster 20 times.
   */
  async changePet(
    id: bigint | number,
    change: PetChange | ChangeFunction,
    options?: ChangeOptions,
  ): Promise<TaggedPet> {
    const apply = async (input: PetChange, own?: ChangeOptions): Promise<TaggedPet> => {
      const { pet, etag } = await this.changePetOnce(id, input, undefined, own);
      return { pet, etag };
    };
    if (typeof change !== 'function') return await apply(change, options);
    this.assertCallable(options, CHANGE_OPTIONS);
    const find = () => this.#ended(this.changes.findTagged(idOf(id), options), options);
    const signal = this.untilClosed(options?.signal);
    return await changeByFunction({ find, change: apply }, change, options ?? {}, signal);
  }

  /** Changes a pet exactly once for each caller and key, as `ChangePet.execute` describes. `caller` is as in `createPetOnce`. */
  async changePetOnce(
    id: bigint | number,
    change: PetChange,
    caller?: Caller,
    options?: ChangeOptions,
  ): Promise<ChangeResult> {
    return await this.#write('change', caller, options, CHANGE_OPTIONS, (by) =>
      this.changes.changePet.execute(idOf(id), change, tagsOf(options?.ifMatch), by, options),
    );
  }

  /**
   * Removes a pet, and resolves when the removal is durable. Also resolves when the pet was already removed. Rejects with
   * `not_found` when the pet never existed, and with the other errors of `changePet`.
   */
  async removePet(id: bigint | number, options?: ChangeOptions): Promise<void> {
    await this.removePetOnce(id, undefined, options);
  }

  /** Removes a pet exactly once for each caller and key. `caller` is as in `createPetOnce`. */
  async removePetOnce(
    id: bigint | number,
    caller?: Caller,
    options?: ChangeOptions,
  ): Promise<{ readonly isReplay: boolean }> {
    return await this.#write('change', caller, options, CHANGE_OPTIONS, (by) =>
      this.changes.removePet.execute(idOf(id), tagsOf(options?.ifMatch), by, options),
    );
  }

  /**
   * Resolves with one page of the newest states of all pets, in the order of the writes. Rejects with `restart_required` for a
   * cursor of another epoch: the caller must then begin again without `after`, and replace its copy of the pets.
   */
  async listChanges(query?: ChangesPageQuery, options?: CallOptions): Promise<ChangesList<Change>> {
    return await withEntityTags(await this.listStates(query, options));
  }

  /** Lists changes as `listChanges` does, but with entity tags only if the store is on another server. */
  async listStates(query?: ChangesPageQuery, options?: CallOptions): Promise<ChangesList> {
    this.assertCallable(options);
    if (query !== undefined) checkOptions(query, CHANGES_QUERY);
    return await this.#ended(this.changes.listChanges.execute(query, options), options);
  }

  /**
   * Yields the newest state of each pet in the order of the writes, and then, for ever, each newer state. To keep an exact copy of
   * the pets, apply each state, and store its cursor. When a pet changes several times between two reads, only its last state is
   * yielded.
   */
  followChanges(options: FollowChangesOptions = {}): AsyncGenerator<Change, void, undefined> {
    const read = async (query: ChangesPageQuery, call: CallOptions) => {
      const { changes: items, ...page } = await this.listChanges(query, call);
      return { items, ...page };
    };
    return follow(read, options, FOLLOW_CHANGES_OPTIONS, this.closing.signal, this.storage.isRemote);
  }

  /** Resolves when the storage can handle requests, and rejects with `storage_unavailable` otherwise. */
  async check(): Promise<void> {
    this.assertCallable();
    await this.storage.check();
  }

  /** Makes `followPets` and `followChanges` reject, completes the accepted writes, and then releases all resources. */
  close(): Promise<void> {
    this.closing.abort(closedError());
    this.#closed ??= (async () => {
      // A change reads the pet before it writes, so the storage must stay open between the two.
      await Promise.allSettled(this.#writes);
      await this.storage.close();
    })();
    return this.#closed;
  }

  /** Calls {@link BasicStore.close} at the end of an `await using` block. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  protected get changes(): ChangeUseCases {
    return supported(this.useCases.changes, 'a change of a pet');
  }

  async #write<T>(
    kind: Write,
    given: Caller | undefined,
    options: ChangeOptions | undefined,
    rules: OptionRules<ChangeOptions> | OptionRules<CreateOptions>,
    call: (caller: Caller | undefined) => Promise<T>,
  ): Promise<T> {
    this.assertCallable(options, rules);
    const caller = given ?? programWith(options?.idempotencyKey);
    if (caller !== undefined) this.startMaintenance();
    const write = this.#ended(call(caller), options, (signal) => abortedWrite(kind, signal, caller?.key));
    this.#writes.add(write);
    try {
      return await write;
    } finally {
      this.#writes.delete(write);
    }
  }

  /** Ends the wait for a call when its signal is aborted, because most storages ignore the signal. */
  #ended<T>(call: Promise<T>, options?: CallOptions, error?: (signal: AbortSignal) => unknown): Promise<T> {
    if (options === undefined || this.storage.isRemote) return call;
    return untilAborted(call, options.signal, error);
  }

  /** Returns a signal that is aborted when the given one is, or when the store is closed. */
  protected untilClosed(signal: AbortSignal | undefined): AbortSignal {
    const { signal: closing } = this.closing;
    return AbortSignal.any([closing, signal ?? closing]);
  }

  /** Called before each write that has an idempotency key. */
  protected startMaintenance(): void {}

  /** Throws when the store is closed, when an option is invalid, or when the signal is already aborted. */
  protected assertCallable(options?: CallOptions, rules: OptionRules<CallOptions> = CALL_OPTIONS): void {
    if (this.closing.signal.aborted) throw closedError();
    if (options === undefined) return;
    checkOptions(options, rules);
    options.signal?.throwIfAborted();
  }
}
