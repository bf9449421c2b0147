/** Keys for the contract of `ApiKeyRepository`, and what is asked of them again and again. */

import assert from 'node:assert/strict';
import type { ApiKeyRepository } from '../application/ports.ts';
import { API_KEY_BYTES, type ApiKey, apiKeyHint, formatApiKey, type NewApiKey } from '../domain/api-key.ts';
import { nextTurn } from './contract.ts';

const HOUR = 60 * 60 * 1000;

export type Draft = [key: string, about: NewApiKey];

export function draft(name: string, expiresAt?: number): Draft {
  const key = formatApiKey(crypto.getRandomValues(new Uint8Array(API_KEY_BYTES)));
  return [key, { name, hint: apiKeyHint(key), createdAt: Date.now() - HOUR, expiresAt }];
}

export async function assertHolder(
  keys: ApiKeyRepository,
  [key, about]: Draft,
  id: string | undefined,
): Promise<void> {
  const holder = await keys.verify(key);
  assert.deepEqual({ id: holder?.id, name: holder?.name }, { id, name: about.name });
}

export function assertAbout(actual: ApiKey, [, { name, hint, createdAt, expiresAt }]: Draft): void {
  assert.equal(typeof actual.id, 'string');
  assert.deepEqual(
    [actual.name, actual.hint, actual.createdAt, actual.expiresAt],
    [name, hint, createdAt, expiresAt],
  );
}

export async function namesOf(keys: ApiKeyRepository): Promise<string[]> {
  return (await keys.list()).map(({ name }) => name);
}

/** The note may be written behind the answer: this waits for it. */
export async function untilUsed(keys: ApiKeyRepository, name: string): Promise<ApiKey> {
  for (;;) {
    const about = (await keys.list()).find((key) => key.name === name);
    if (about?.lastUsedOn !== undefined) return about;
    await nextTurn();
  }
}

export function startOfDay(): number {
  return new Date().setUTCHours(0, 0, 0, 0);
}
