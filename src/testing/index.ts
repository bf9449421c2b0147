/**
 * `animal-store/testing`: test cases for an adapter of your own, for any test runner. For example, `petRepositoryContract` returns
 * the cases of the port `PetRepository`. A port is an interface that adapters implement. To register the cases, write `for
 * (const { name, run } of petRepositoryContract({ open })) test(name, run);`, where `open` opens the adapter.
 */

export { apiKeyRepositoryContract } from './api-key-repository.contract.ts';
export type { ContractCase, Opened, Subject } from './contract.ts';
export { type DifferentialOptions, differentialContract } from './differential.contract.ts';
export type { ChangingStore, IdempotentChangingStore, IdempotentStore } from './fixtures/attempts.ts';
export { type ExerciseOptions, exercise } from './history/exercise.ts';
export { exerciseKeys } from './history/exercise-keys.ts';
export { History, type KeyOperations, type PetOperations } from './history/history.ts';
export { changeHistoryContract, historyContract, keyHistoryContract } from './history.contract.ts';
export { idempotentChangesContract } from './idempotent-changes.contract.ts';
export { idempotentCreatesContract } from './idempotent-creates.contract.ts';
export { petChangesContract } from './pet-changes.contract.ts';
export { petRepositoryContract } from './pet-repository.contract.ts';
export { petTransferContract, type TransferStore } from './pet-transfer.contract.ts';
export { type StorageSubject, storageContract } from './storage.contract.ts';
