import type { ApiKey } from '../../domain/api-key.ts';

/** The holder of an API key. Its idempotency keys belong to `callerId`, which defaults to `id`. */
export type ApiKeyHolder = Pick<ApiKey, 'id' | 'name' | 'callerId' | 'isReadOnly'>;

/** The options of a verification. */
export interface VerifyOptions {
  /**
   * Whether a key that was verified in the last 24 hours is accepted while the stored keys cannot be read. Even so, such a key is
   * refused if it has expired, or if this process has revoked or rotated it. Default: false. The server sets this option only for
   * requests that read its metrics.
   */
  readonly duringOutage?: boolean;
}

/** Decides whether a string is an active API key. */
export interface ApiKeyVerifier {
  /**
   * Resolves with the holder of an active key, or with `undefined` for any other string. A revoked key is refused at once in the
   * process that revoked it, and within 1 s in others. Rejects with `storage_unavailable` when the keys cannot be read.
   */
  verify(key: string, options?: VerifyOptions): Promise<ApiKeyHolder | undefined>;
}
