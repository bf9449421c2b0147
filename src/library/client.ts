/** The entry point `animal-store/client`: the store of another server, without any module of Node.js. */

import type { AnimalStore } from '../application/animal-store.ts';
import { checkOptions, type OptionRules, STRING } from '../application/arguments.ts';
import { CreatePet } from '../application/create-pet.ts';
import { CreatePetOnce, THIS_PROGRAM } from '../application/create-pet-once.ts';
import { followPets } from '../application/follow-pets.ts';
import { GetPet } from '../application/get-pet.ts';
import { ListPets } from '../application/list-pets.ts';
import type { Storage } from '../application/ports/storage.ts';
import {
  CALL_OPTIONS,
  CLIENT_OPTIONS,
  type ClientOptions,
  CREATE_OPTIONS,
} from '../application/store-options.ts';
import { walkPets } from '../application/walk-pets.ts';
import { api } from '../composition/databases/api.ts';
import { invalidRequest } from '../domain/errors.ts';

export type { PetPageQuery } from '../application/list-pets.ts';
export type { CallOptions, PetPage } from '../application/ports/pet-repository.ts';
export type {
  ClientOptions,
  CreateOptions,
  Deprecation,
  FollowOptions,
  PetWalk,
} from '../application/store-options.ts';
export { AnimalStoreError, asAnimalStoreError, type ErrorCode } from '../domain/errors.ts';
export type { NewPetInput, Pet, PetStatus } from '../domain/pet.ts';

/** The methods of an `AnimalStore` that the API has operations for. Every `AnimalStore` is a `PetStore` too. */
export type PetStore = Pick<
  AnimalStore,
  | 'createPet'
  | 'getPet'
  | 'listPets'
  | 'listPage'
  | 'followPets'
  | 'check'
  | 'close'
  | typeof Symbol.asyncDispose
>;

/** The configuration of the store of a server. */
export interface ClientConfig extends ClientOptions {
  /** The base address of the API, such as `https://pets.example.org/v1`. */
  readonly database: string;
}

const OPTIONS: OptionRules<ClientConfig> = { database: STRING, ...CLIENT_OPTIONS };

/** Opens the store of a server, and sends no request. Rejects with `invalid_request` for an invalid configuration. */
export async function createAnimalStore(config: ClientConfig): Promise<PetStore> {
  checkOptions(config, OPTIONS);
  const { database, ...client } = config;
  const [, scheme = '', rest = ''] = /^(https?):(.*)$/s.exec(database) ?? [];
  const { open } = await api.load();
  return petStoreOf(await open(baseOf(rest, scheme || 'https'), { client }));
}

function baseOf(rest: string, scheme: string): string {
  try {
    return api.parse(rest, scheme);
  } catch (error) {
    throw invalidRequest(`database: ${(error as Error).message}`);
  }
}

/** An `AnimalStore` would add the use cases that only the server has, and make a web page larger by a third. */
function petStoreOf(storage: Storage): PetStore {
  const { pets, idempotentCreates } = storage;
  let isClosed = false;
  const close = (): Promise<void> => {
    isClosed = true;
    return storage.close();
  };
  const createPet = new CreatePet(pets);
  const createPetOnce = new CreatePetOnce(idempotentCreates);
  const [listPets, getPet] = [new ListPets(pets), new GetPet(pets)];
  const store: PetStore = {
    async createPet(input, options = {}) {
      checkOptions(options, CREATE_OPTIONS);
      const { idempotencyKey: key, ...call } = options;
      if (key === undefined) return await createPet.execute(input, call);
      return (await createPetOnce.execute(input, THIS_PROGRAM, key, call)).pet;
    },
    listPets: (query, options) =>
      walkPets(async (page, previous) => {
        checkOptions(options ?? {}, CALL_OPTIONS);
        return await listPets.execute(page, options, previous);
      }, query),
    followPets: (options) =>
      followPets(
        { readPage: (query, call) => store.listPage(query, call), isClosed: () => isClosed },
        options,
      ),
    async listPage(query, options = {}) {
      checkOptions(options, CALL_OPTIONS);
      return await listPets.execute(query, options);
    },
    async getPet(id, options = {}) {
      checkOptions(options, CALL_OPTIONS);
      return await getPet.execute(id, options);
    },
    check: () => storage.check(),
    close,
    [Symbol.asyncDispose]: close,
  };
  return store;
}
