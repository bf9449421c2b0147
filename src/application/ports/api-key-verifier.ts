/** The key holder: the id and the name of an active API key. */
export interface ApiKeyHolder {
  readonly id: string;
  readonly name: string;
}

/** Decides whether a string is an active API key. */
export interface ApiKeyVerifier {
  /**
   * Resolves with the key holder of an active key, or with `undefined` when the key is unknown, expired or revoked. The
   * result does not tell the caller which of these three reasons applies.
   *
   * A revoked key is refused at once in this process, within 1 s in another process on the same machine, and within 5 s
   * in another instance of a networked engine.
   *
   * Rejects with `storage_unavailable` when the stored keys cannot be read.
   */
  verify(key: string): Promise<ApiKeyHolder | undefined>;
}
