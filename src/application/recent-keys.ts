import { type ApiKey, isActive } from '../domain/api-key.ts';
import { DAY } from './ports/idempotent-creates.ts';

/** Beyond it, the key whose last verification is the oldest is forgotten. */
const LIMIT = 10_000;

/** The keys that were verified in the last 24 hours, which may read metrics while the stored keys cannot be read. */
export class RecentKeys {
  /** In the order of their last verification. */
  readonly #recent = new Map<string, { readonly apiKey: ApiKey; readonly at: number }>();
  /** Incremented by each key that ends. What was read before that may be out of date. */
  generation = 0;

  remember(key: string, apiKey: ApiKey, at: number): void {
    this.#recent.delete(key);
    this.#recent.set(key, { apiKey, at });
    if (this.#recent.size > LIMIT) this.forget(this.#recent.keys().next().value ?? key);
  }

  forget(key: string): void {
    this.#recent.delete(key);
  }

  forgetId(id: string): void {
    this.generation += 1;
    for (const [key, { apiKey }] of this.#recent) if (apiKey.id === id) this.forget(key);
  }

  recall(key: string, now: number): ApiKey | undefined {
    const { apiKey, at } = this.#recent.get(key) ?? {};
    return apiKey && at !== undefined && now - at < DAY && isActive(apiKey, now) ? apiKey : undefined;
  }
}
