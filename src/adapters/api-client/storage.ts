import { fenced } from '../../application/fenced.ts';
import { closedError, type StoreStorage } from '../../application/ports/storage.ts';
import type { ClientOptions, Deprecation } from '../../application/store-options.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { apiChangeUseCases } from './change-use-cases.ts';
import { ApiPetRepository } from './pet-repository.ts';
import { type Send, sender } from './request.ts';
import { ApiWriter } from './writer.ts';

/** How long a call and a check of the server are tried, in milliseconds. */
const DEFAULT_TIMEOUT = 30_000;
const CHECK_TIMEOUT = 1000;

/** The operations that this process has warned of. */
const WARNED = new Set<string>();

/**
 * Opens the store of another server over its API, which has operations for pets only, and makes each write exactly once. Throws
 * `invalid_request` when an option is invalid.
 * @param base the base address of the API, without a slash at its end
 */
export function openApiStorage(base: string, options: ClientOptions = {}): StoreStorage {
  const { apiKey = '', timeout = DEFAULT_TIMEOUT, onDeprecation = warnOfDeprecation, fetch } = options;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw invalidRequest('apiKey: expected the API key of the server, in visible ASCII characters');
  }
  const headers = { ...options.headers, Authorization: `Bearer ${apiKey}` };
  const sendRequest = sender(base, { headers, timeout, fetch });
  const deprecated = new Set<string>();
  let isClosed = false;
  const send: Send = async (operation, ...request) => {
    if (isClosed) throw closedError();
    const response = await sendRequest(operation, ...request);
    const deprecation = operation === undefined ? operation : deprecationOf(operation, response.headers);
    if (deprecation !== undefined && !deprecated.has(deprecation.operation)) {
      deprecated.add(deprecation.operation);
      fenced(() => onDeprecation(deprecation));
    }
    return response;
  };
  const writer = new ApiWriter(base, send);
  const pets = new ApiPetRepository(base, send, writer);
  return {
    endsCalls: true,
    pets,
    idempotentCreates: { add: (pet, attempt, options) => pets.addOnce(pet, attempt, options) },
    changeUseCases: apiChangeUseCases(base, send, writer),
    async check() {
      await send('listPets', `${base}/pets?limit=1`, { accepted: [200] }, { timeout: CHECK_TIMEOUT });
    },
    async close() {
      isClosed = true;
      await writer.settle();
    },
  };
}

function warnOfDeprecation({ operation, sunset }: Deprecation): void {
  if (WARNED.has(operation)) return;
  WARNED.add(operation);
  const end = sunset === undefined ? '' : `, and due for removal from ${sunset.toISOString().slice(0, 10)}`;
  console.warn(
    `animal-store: the operation ${operation} of the API is deprecated${end}; onDeprecation replaces this warning`,
  );
}

/** Returns the notice in the header fields of a response (RFC 9745, RFC 8594), or `undefined` without one. */
function deprecationOf(operation: string, headers: Headers): Deprecation | undefined {
  const since = headers.get('Deprecation');
  if (since === null) return undefined;
  return {
    operation,
    since: dateOf(Number(/^@(\d+)$/.exec(since)?.[1]) * 1000),
    sunset: dateOf(Date.parse(headers.get('Sunset') ?? '')),
  };
}

function dateOf(milliseconds: number): Date | undefined {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? undefined : date;
}
