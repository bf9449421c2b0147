/** A store in memory with one key, and observers that remember what they are told. */

import { onTestFinished } from 'vitest';
import type { RequestObserver, RequestOutcome } from '../../src/adapters/http/index.ts';
import { type AnimalStore, createAnimalStore } from '../../src/library/index.ts';
import { registerKey } from '../support/canary.ts';

export interface OpenedStore {
  readonly store: AnimalStore;
  readonly headers: { readonly Authorization: string; readonly 'Content-Type': string };
  readonly outcomes: RequestOutcome[];
  readonly errors: string[];
  readonly observers: RequestObserver[];
}

export async function openStore(): Promise<OpenedStore> {
  const store = await createAnimalStore({ database: 'memory:' });
  onTestFinished(() => store.close());
  const { key } = await store.apiKeys.create('me');
  registerKey(key);
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const outcomes: RequestOutcome[] = [];
  const errors: string[] = [];
  const observers = [
    {
      onRequest: (outcome: RequestOutcome) => void outcomes.push(outcome),
      onError: (error: unknown) => void errors.push(String(error)),
    },
  ];
  return { store, headers, outcomes, errors, observers };
}
