/** The key holder: the id and the name of an active API key. */
export interface ApiKeyHolder {
  readonly id: string;
  readonly name: string;
}

/** Decides whether a string is an active API key. */
export interface ApiKeyVerifier {
  /**
   * Resolves with the key holder of an active key, or with `undefined` when the key is unknown, expired or revoked. The
   * result `undefined` does not tell the caller which of these three reasons applies.
   *
   * This process refuses a revoked key at once. Another process on the same machine refuses a revoked key within 1 s,
   * and another instance of a networked engine within 5 s.
   *
   * Rejects with `storage_unavailable` when the stored keys cannot be read.
   */
  verify(key: string): Promise<ApiKeyHolder | undefined>;
}
