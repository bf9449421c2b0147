/** A token for each port that a server uses. A use case, and any other class, is its own token. */

import type { InjectionToken } from 'tsyringe';
import type { HttpServer, KeyVerifier } from '../adapters/http/portable.ts';
import type { Logger } from '../adapters/log/index.ts';
import type { ApiKeyRepository } from '../application/ports/api-key-repository.ts';
import type { IdempotentChanges } from '../application/ports/idempotent-changes.ts';
import type { IdempotentCreates } from '../application/ports/idempotent-creates.ts';
import type { Observer } from '../application/ports/observer.ts';
import type { PetChanges } from '../application/ports/pet-changes.ts';
import type { PetRepository } from '../application/ports/pet-repository.ts';
import type { PetTransfer } from '../application/ports/pet-transfer.ts';
import type { RequestObserver } from '../application/ports/request-observer.ts';
import type { Storage } from '../application/ports/storage.ts';
import type { UseCases } from '../application/use-cases.ts';

export const STORAGE: InjectionToken<Storage> = Symbol('Storage');
export const PET_REPOSITORY: InjectionToken<PetRepository> = Symbol('PetRepository');
export const IDEMPOTENT_CREATES: InjectionToken<IdempotentCreates> = Symbol('IdempotentCreates');
export const PET_CHANGES: InjectionToken<PetChanges> = Symbol('PetChanges');
export const IDEMPOTENT_CHANGES: InjectionToken<IdempotentChanges> = Symbol('IdempotentChanges');
export const PET_TRANSFER: InjectionToken<PetTransfer> = Symbol('PetTransfer');
export const API_KEY_REPOSITORY: InjectionToken<ApiKeyRepository> = Symbol('ApiKeyRepository');
export const API_KEY_VERIFIER: InjectionToken<KeyVerifier> = Symbol('ApiKeyVerifier');
export const USE_CASES: InjectionToken<Required<UseCases>> = Symbol('UseCases');
/** Registered once for each observer. */
export const OBSERVER: InjectionToken<Observer & RequestObserver> = Symbol('Observer');
export const LOGGER: InjectionToken<Logger> = Symbol('Logger');
export const HTTP_SERVER: InjectionToken<HttpServer> = Symbol('HttpServer');
