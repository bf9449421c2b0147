import type { ApiKey } from '../../domain/api-key.ts';

/** The key holder. Its idempotency keys belong to `callerId`, which defaults to `id`. With `isReadOnly`, it may only read. */
export type ApiKeyHolder = Pick<ApiKey, 'id' | 'name' | 'callerId' | 'isReadOnly'>;

/** The options of a verification. */
export interface VerifyOptions {
  /**
   * Whether a key that was verified in the last 24 hours is accepted while the stored keys cannot be read, unless it has
   * expired or this process has revoked or rotated it. Default: false. The server sets it for its metrics only.
   */
  readonly duringOutage?: boolean;
}

/** Decides whether a string is an active API key. */
export interface ApiKeyVerifier {
  /**
   * Resolves with the key holder of an active key, or with `undefined` when the key is unknown, expired or revoked. The
   * process that revokes a key refuses the key at once, and every other process within 1 s. Rejects with
   * `storage_unavailable` when the stored keys cannot be read.
   */
  verify(key: string, options?: VerifyOptions): Promise<ApiKeyHolder | undefined>;
}
