/** Replaces `fetch` with a fake one, whose responses a test lists in order. */

import { expect, onTestFinished, vi } from 'vitest';
import type { AnimalStoreError } from '../../../src/domain/errors.ts';
import type { NewPet } from '../../../src/domain/pet.ts';
import { petJson } from '../../../src/domain/pet-json.ts';
import { type BasicStore, type ClientOptions, createAnimalStore } from '../../../src/library/client.ts';
import { samplePet } from '../../../src/testing/fixtures/pets.ts';

export const BASE = 'https://pets.example.org/v1';
export const API_KEY = 'a-key-of-the-tests-with-32-characters';

export interface FakeResponse {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The fate of a request: a response, an error of `fetch`, a body that ends too early with or without an error, or no response. */
export type Fate = FakeResponse | Error | 'no error' | 'cut body' | { readonly begun: string } | 'silence';

export interface SentRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** The time of the request, in milliseconds since the first one. */
  readonly at: number;
}

/**
 * Gives each request the next fate, and all further requests the last one. Returns the requests.
 */
export function fakeApi(...fates: readonly Fate[]): SentRequest[] {
  const sent: SentRequest[] = [];
  let start: number | undefined;
  vi.stubGlobal('fetch', async (url: string, init: RequestInit): Promise<Response> => {
    start ??= performance.now();
    const { method = 'GET', headers, body, signal } = init;
    const at = Math.round(performance.now() - start);
    const text = typeof body === 'string' ? body : undefined;
    sent.push({ url, method, headers: new Headers(headers), body: text, at });
    const fate = fates[Math.min(sent.length, fates.length) - 1] as Fate;
    if (fate instanceof Error) throw fate;
    if (fate === 'no error') return Promise.reject();
    if (fate === 'silence') {
      return new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason as Error));
      });
    }
    if (fate === 'cut body') {
      return new Response(
        new ReadableStream({ start: (stream) => stream.error(new TypeError('terminated')) }),
      );
    }
    if ('begun' in fate) return new Response(fate.begun, { status: method === 'POST' ? 201 : 200 });
    const { status, body: sentBody = null } = fate;
    return new Response(sentBody, { status, headers: { ...fate.headers } });
  });
  onTestFinished(() => void vi.unstubAllGlobals());
  return sent;
}

export function failure(
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
): FakeResponse {
  return { status, body: JSON.stringify({ code, message: `the message of ${code}`, status }), headers };
}

/** The pet of each list. Its integers are beyond 2^53, where the attributes allow it. */
export const LISTED: NewPet = samplePet('Max', 2n ** 53n + 3n);

export function lostConnection(): Error {
  return new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED 127.0.0.1:1') });
}

export function petText(id: bigint): string {
  return petJson({ id, ...LISTED });
}

export function openStore(options: ClientOptions & { readonly database?: string } = {}): Promise<BasicStore> {
  return createAnimalStore({ database: BASE, apiKey: API_KEY, ...options });
}

/** Runs a call until it has ended, on a fake clock. */
export async function ended<T>(call: Promise<T>): Promise<T> {
  const settled = Promise.allSettled([call]);
  await vi.advanceTimersByTimeAsync(60_000);
  const [result] = await settled;
  if (result.status === 'rejected') throw result.reason;
  return result.value;
}

export function errorOf(call: Promise<unknown>): Promise<AnimalStoreError> {
  return ended(call).then(
    () => expect.unreachable('the call should have failed'),
    (error: AnimalStoreError) => error,
  );
}
