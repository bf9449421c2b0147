import { type ApiKey, isActive, isApiKey } from '../domain/api-key.ts';
import type { ReportFailure } from './observers.ts';
import type { ApiKeyRepository } from './ports/api-key-repository.ts';
import type { ApiKeyHolder, ApiKeyVerifier, VerifyOptions } from './ports/api-key-verifier.ts';
import { DAY } from './ports/idempotent-creates.ts';

const CACHE_LIMIT = 1000;
/** Beyond this limit, the key with the oldest last verification is forgotten. */
const RECENT_LIMIT = 10_000;
/** After a failed write, no use of a key is recorded for this time, in milliseconds. */
const PAUSE = 60_000;

/** Verifies API keys, and records the day on which each key was last used. */
export class VerifyApiKey implements ApiKeyVerifier {
  readonly #keys: ApiKeyRepository;
  readonly #now: () => number;
  readonly #report: ReportFailure;
  /** During an outage, these keys can read metrics. They are in the order of their last verification. */
  readonly #recent = new Map<string, { readonly apiKey: ApiKey; readonly verifiedAt: number }>();
  /** The ids of the keys that were revoked or rotated here. */
  readonly #ended = new Set<string>();
  /** By key id, because `lastUsedOn` of a repository can be out of date for a while. */
  readonly #recordedOn = new Map<string, number>();
  /** The queued writes and the one in flight, by key id. */
  readonly #unrecorded = new Map<string, number>();
  #failedAt = -Infinity;

  constructor(keys: ApiKeyRepository, now: () => number = Date.now, report: ReportFailure = () => {}) {
    this.#keys = keys;
    this.#now = now;
    this.#report = report;
  }

  /** Refuses a string that does not have the format of a key without reading the storage. */
  async verify(key: string, { duringOutage = false }: VerifyOptions = {}): Promise<ApiKeyHolder | undefined> {
    if (!isApiKey(key)) return undefined;
    let apiKey: ApiKey | undefined;
    try {
      apiKey = await this.#keys.find(key);
    } catch (error) {
      const recent = duringOutage ? this.#recall(key, this.#now()) : undefined;
      if (recent === undefined) throw error;
      return recent;
    }
    const now = this.#now();
    this.#recent.delete(key);
    // A storage without types can resolve with `null`.
    if (!apiKey || !isActive(apiKey, now)) return undefined;
    this.#recent.set(key, { apiKey, verifiedAt: now });
    if (this.#recent.size > RECENT_LIMIT) this.#recent.delete(this.#recent.keys().next().value ?? key);
    const { lastUsedOn = -Infinity } = apiKey;
    if (now - lastUsedOn >= DAY) this.#recordUse(apiKey, now);
    return apiKey;
  }

  /** Must be called when a key was revoked or ends earlier. */
  forget(id: string): void {
    this.#ended.add(id);
  }

  #recall(key: string, now: number): ApiKey | undefined {
    const { apiKey, verifiedAt = 0 } = this.#recent.get(key) ?? {};
    const isValid = apiKey && now - verifiedAt < DAY && isActive(apiKey, now) && !this.#ended.has(apiKey.id);
    return isValid ? apiKey : undefined;
  }

  /** No request waits for the write. When it fails, a later use of the key on this day is recorded. */
  #recordUse({ id }: ApiKey, now: number): void {
    const today = now - (now % DAY);
    const { size } = this.#unrecorded;
    const isPaused = size >= CACHE_LIMIT || Math.abs(now - this.#failedAt) < PAUSE;
    if (isPaused || this.#recordedOn.get(id) === today) return;
    if (this.#recordedOn.size >= CACHE_LIMIT) this.#recordedOn.clear();
    this.#recordedOn.set(id, today);
    this.#unrecorded.set(id, today);
    if (size === 0) void this.#writeUses();
  }

  /** One write at a time, so that writes that hang leave the storage to the reads. */
  async #writeUses(): Promise<void> {
    try {
      // The iteration includes entries that are added during it.
      for (const [id, day] of this.#unrecorded) {
        await this.#keys.setLastUsedOn(id, day);
        this.#unrecorded.delete(id);
      }
    } catch (error) {
      this.#failedAt = this.#now();
      for (const id of this.#unrecorded.keys()) this.#recordedOn.delete(id);
      this.#unrecorded.clear();
      this.#report('recording the last use of an API key', error);
    }
  }
}
