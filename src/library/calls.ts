/** The errors and the types of the calls that every store has, even one that is opened through the API of a server. */

export type { Change, ChangeFunction } from '../application/change-calls.ts';
export type { Deprecation } from '../application/deprecation.ts';
export type { TaggedPet } from '../application/entity-tag.ts';
export type { ChangesList, ChangesPageQuery, PetState } from '../application/list-changes.ts';
export type { PetPageQuery } from '../application/list-pets.ts';
export type { CallOptions, PetPage } from '../application/ports/pet-repository.ts';
export type {
  ChangeOptions,
  ClientOptions,
  CreateOptions,
  FollowChangesOptions,
  Following,
  FollowOptions,
  PetWalk,
} from '../application/store-options.ts';
export { AnimalStoreError, asAnimalStoreError, type ErrorCode, type ErrorDetails } from '../domain/errors.ts';
export type { NewPet, NewPetInput, Pet, PetFilterName, PetStatus } from '../domain/pet.ts';
export type { PetChange } from '../domain/pet-change.ts';
export type { PetFilterInput } from '../domain/pet-filter.ts';
