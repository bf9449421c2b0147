/**
 * `animal-store/testing`: the contract of each port as a list of named contract cases, for any test runner:
 * `for (const { name, run } of petRepositoryContract({ open })) test(name, run);`
 */

export { apiKeyRepositoryContract } from './api-key-repository.contract.ts';
export type { ContractCase, Opened, Subject } from './contract.ts';
export { petRepositoryContract } from './pet-repository.contract.ts';
export { petTransferContract, type TransferStore } from './pet-transfer.contract.ts';
export { type StorageSubject, storageContract } from './storage.contract.ts';
