import type { RemoteStorage } from '../../application/change-calls.ts';
import type { ClientOptions } from '../../application/store-options.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { ApiClient } from './api-client.ts';
import { apiChangeUseCases } from './change-use-cases.ts';
import { deprecationListener } from './deprecation.ts';
import { apiPets } from './pet-repository.ts';
import { sender } from './request.ts';

/** The timeout of a check of the server, in milliseconds. */
const CHECK_TIMEOUT = 1000;

/**
 * Opens the store of a server through its API, which gives access to pets only. A write takes effect once, even if it is retried.
 *
 * @param base the base address of the API, without a slash at its end
 */
export function openApiStorage(base: string, options: ClientOptions = {}): RemoteStorage {
  const { apiKey = '' } = options;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw invalidRequest('apiKey: expected the API key of the server, in visible ASCII characters');
  }
  const headers = { ...options.headers, Authorization: `Bearer ${apiKey}` };
  const send = sender(base, headers, options);
  const api = new ApiClient({ base, send, onResponse: deprecationListener(options) });
  return {
    isRemote: true,
    ...apiPets(api),
    changeUseCases: apiChangeUseCases(api),
    check: () => api.call('listPets', '/pets?limit=1', { read: () => {} }, { timeout: CHECK_TIMEOUT }),
    close: () => api.close(),
  };
}
