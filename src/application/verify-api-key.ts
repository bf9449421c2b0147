import { type ApiKey, isActive, isApiKey } from '../domain/api-key.ts';
import type { ReportFailure } from './observers.ts';
import type { ApiKeyRepository } from './ports/api-key-repository.ts';
import type { ApiKeyHolder, ApiKeyVerifier, VerifyOptions } from './ports/api-key-verifier.ts';
import { DAY } from './ports/idempotent-creates.ts';

const CACHE_LIMIT = 1000;
/** The maximum number of keys that are remembered. Beyond it, the key that was verified least recently is forgotten. */
const RECENT_LIMIT = 10_000;
/** After a failed write, no uses of keys are recorded for this time, in milliseconds. */
const PAUSE = 60_000;

/** Verifies API keys, and records the day on which each key was last used. */
export class VerifyApiKey implements ApiKeyVerifier {
  readonly #keys: ApiKeyRepository;
  readonly #now: () => number;
  readonly #report: ReportFailure;
  /**
   * Recently verified keys, in the order of their last verification. During an outage of the storage, these keys are accepted for
   * requests that read metrics.
   */
  readonly #recent = new Map<string, { readonly apiKey: ApiKey; readonly verifiedAt: number }>();
  /** The ids of the keys that this process has revoked or rotated. */
  readonly #ended = new Set<string>();
  /** The last day that was recorded or queued for each key id. `find` can still return an older `lastUsedOn`. */
  readonly #recordedOn = new Map<string, number>();
  /** The uses that are not recorded yet. For each of them, a write is queued or in flight. */
  readonly #unrecorded = new Set<readonly [id: string, day: number]>();
  #failedAt = -Infinity;

  constructor(keys: ApiKeyRepository, now: () => number = Date.now, report: ReportFailure = () => {}) {
    this.#keys = keys;
    this.#now = now;
    this.#report = report;
  }

  /** Reads the storage only for a string that has the format of a key. */
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
    // A storage that is written in plain JavaScript can resolve with `null`.
    if (!apiKey || !isActive(apiKey, now)) return undefined;
    this.#recent.set(key, { apiKey, verifiedAt: now });
    if (this.#recent.size > RECENT_LIMIT) this.#recent.delete(this.#recent.keys().next().value ?? key);
    const { lastUsedOn = -Infinity } = apiKey;
    if (now - lastUsedOn >= DAY) this.#recordUse(apiKey, now);
    return apiKey;
  }

  /** Must be called when this process has revoked or rotated a key, so that the key is also refused during an outage. */
  forget(id: string): void {
    this.#ended.add(id);
  }

  #recall(key: string, now: number): ApiKey | undefined {
    const { apiKey, verifiedAt = 0 } = this.#recent.get(key) ?? {};
    const isValid = apiKey && now - verifiedAt < DAY && isActive(apiKey, now) && !this.#ended.has(apiKey.id);
    return isValid ? apiKey : undefined;
  }

  /** Queues a write, and does not wait. If the write fails, a later use of the key on the same day is recorded. */
  #recordUse({ id }: ApiKey, now: number): void {
    const today = now - (now % DAY);
    const { size } = this.#unrecorded;
    const isPaused = size >= CACHE_LIMIT || Math.abs(now - this.#failedAt) < PAUSE;
    if (isPaused || this.#recordedOn.get(id) === today) return;
    if (this.#recordedOn.size >= CACHE_LIMIT) this.#recordedOn.clear();
    this.#recordedOn.set(id, today);
    this.#unrecorded.add([id, today]);
    if (size === 0) void this.#writeUses();
  }

  /** Makes one write at a time, so that writes that hang do not block other calls of the storage. */
  async #writeUses(): Promise<void> {
    try {
      // The iteration over a `Set` includes values that are added while it runs.
      for (const use of this.#unrecorded) {
        await this.#keys.setLastUsedOn(...use);
        this.#unrecorded.delete(use);
      }
    } catch (error) {
      this.#failedAt = this.#now();
      for (const [id] of this.#unrecorded) this.#recordedOn.delete(id);
      this.#unrecorded.clear();
      this.#report('recording the last use of an API key', error);
    }
  }
}
