import { fenced } from '../../application/fenced.ts';
import type { ApiKeyRepository } from '../../application/ports/api-key-repository.ts';
import { closedError, type Storage } from '../../application/ports/storage.ts';
import type { ClientOptions, Deprecation } from '../../application/store-options.ts';
import { invalidRequest } from '../../domain/errors.ts';
import { ApiPetRepository } from './pet-repository.ts';
import { type Send, sender } from './request.ts';

/** How long a call and a check of the server are tried, in milliseconds. */
const DEFAULT_TIMEOUT = 30_000;
const CHECK_TIMEOUT = 1000;

/** The operations that this process has warned of. */
const WARNED = new Set<string>();

const BATCH_SIZE = 100;

/**
 * Opens the store of another server over its API. Throws `invalid_request` when an option is invalid.
 * @param base the base address of the API, without a slash at its end
 */
export function openApiStorage(base: string, options: ClientOptions = {}): Storage {
  const { apiKey = '', timeout = DEFAULT_TIMEOUT, onDeprecation = warnOfDeprecation } = options;
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw invalidRequest('apiKey: expected the API key of the server, in visible ASCII characters');
  }
  const sendRequest = sender(base, apiKey, timeout);
  const deprecated = new Set<string>();
  let isClosed = false;
  const send: Send = async (operation, ...request) => {
    if (isClosed) throw closedError();
    const response = await sendRequest(operation, ...request);
    const deprecation = deprecationOf(operation, response.headers);
    if (deprecation !== undefined && !deprecated.has(operation)) {
      deprecated.add(operation);
      fenced(() => onDeprecation(deprecation));
    }
    return response;
  };
  const pets = new ApiPetRepository(base, send);
  return {
    pets,
    idempotentCreates: {
      // The server knows this program by its API key. The keys of its own callers are kept apart.
      add: (pet, { caller, key }, options) =>
        pets.addOnce(pet, caller === '' ? key : `${encodeURIComponent(caller)}/${key}`, options),
    },
    // The server removes old records.
    idempotencyRecords: { count: async () => 0, removeRecords: async () => 0 },
    apiKeys: NO_API_KEYS,
    transfer: {
      importPets: () => refuse('import'),
      // Unlike the port promises, pets that are added meanwhile can be exported too: each page is read by itself.
      async *exportPets({ status } = {}, options) {
        let page = await pets.list({ limit: BATCH_SIZE, status }, options);
        if (page.pets.length > 0) yield page.pets;
        while (page.more) {
          page = await pets.next(page, options);
          yield page.pets;
        }
      },
    },
    async check() {
      await send('listPets', `${base}/pets?limit=1`, { expected: [200] }, { timeout: CHECK_TIMEOUT });
    },
    async close() {
      isClosed = true;
      await pets.settleCreates();
    },
  };
}

const refuseKeys = (): Promise<never> => refuse('keys');

const NO_API_KEYS: ApiKeyRepository = {
  find: refuseKeys,
  add: refuseKeys,
  addFirst: refuseKeys,
  replace: refuseKeys,
  revoke: refuseKeys,
  setLastUsedOn: refuseKeys,
  list: refuseKeys,
};

async function refuse(work: string): Promise<never> {
  throw invalidRequest(
    `${work} is not supported by this storage: use animal-store on the machine of the server`,
  );
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
