/**
 * `animal-store/testing`: the contract of each port as a list of named cases, for any test runner:
 * `for (const { name, run } of petRepositoryContract({ open })) test(name, run);`
 */

export { apiKeyRepositoryContract } from './api-key-repository.ts';
export type { ContractCase, Opened, Subject } from './contract.ts';
export { petRepositoryContract } from './pet-repository.ts';
export { petTransferContract, type TransferStore } from './pet-transfer.ts';
