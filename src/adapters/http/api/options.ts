import type { AnimalStore } from '../../../application/animal-store.ts';
import type { ApiKeyVerifier } from '../../../application/ports/api-key-verifier.ts';
import type { Observer } from '../../../application/ports/observer.ts';

/** The methods of an {@link AnimalStore} that the API calls. */
export type HttpStore = Pick<
  AnimalStore,
  'createPet' | 'createPetOnce' | 'listPage' | 'getPet' | 'verifyApiKey' | 'check'
>;

/** The options of the HTTP API. */
export interface HttpOptions {
  /** Verifies the API keys of requests. By default, the store verifies them. Every request under `/v1` needs a key. */
  readonly apiKeys?: ApiKeyVerifier | undefined;
  /** The public base URL in the OpenAPI document. By default the URL is derived from the `Host` of each request. */
  readonly publicUrl?: string | undefined;
  /**
   * The origins whose scripts may call the API in a browser, such as `https://example.org`. Default: none, and no
   * response has a CORS header field.
   */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Notified of every response, and of every error that causes a status of 500 or above. */
  readonly observers?: readonly Observer[] | undefined;
}
