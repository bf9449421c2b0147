import type { AnimalStore } from '../../../application/animal-store.ts';
import type { ApiKeyVerifier } from '../../../application/ports/api-key-verifier.ts';
import type { Observer } from '../../../application/ports/observer.ts';

/** The methods of an {@link AnimalStore} that the API calls. */
export type HttpStore = Pick<AnimalStore, 'createPet' | 'listPage' | 'getPet' | 'verifyApiKey' | 'check'>;

/** The options of the HTTP API. */
export interface HttpOptions {
  /** The verifier of API keys. By default the store verifies API keys. The API cannot be served without keys. */
  readonly apiKeys?: ApiKeyVerifier | undefined;
  /** The public base URL for the OpenAPI document. By default the URL is derived from the `Host` of the request. */
  readonly publicUrl?: string | undefined;
  /**
   * The origins whose scripts may call the API in a browser, such as `https://example.org`. By default there are no
   * such origins, and no response has a CORS header field.
   */
  readonly corsOrigins?: readonly string[] | undefined;
  /**
   * The observers are notified of every response, and of each error that caused a response with status 500 or above.
   */
  readonly observers?: readonly Observer[] | undefined;
}
