import type { Diagnosis, Problem } from '../../application/ports/maintenance.ts';
import { invalidRequest } from '../../domain/errors.ts';
import type { Engine } from './engine.ts';

/** A user name, a query or a fragment is refused. */
const ADDRESS = /^\/\/[^/?#@]+(?:\/[^?#]*)?$/;

/** What the API has no operation for. */
const TOOL = 'animal-store on the machine of the server';

const EXAMINATION_TIMEOUT = 5000;

/** The engine for the base address of a server, such as `https://pets.example.org/v1`. It needs `fetch`, and no driver. */
export const api: Engine = {
  schemes: ['https', 'http'],
  usage: 'https://HOST/v1',
  ownTools: { backup: TOOL, import: TOOL, keys: TOOL, restore: TOOL },
  isDurable: true,
  isRemote: true,
  parse(rest, scheme) {
    const address = `${scheme}:${rest}`;
    if (ADDRESS.test(rest) && URL.canParse(address)) return new URL(address).href.replace(/\/+$/, '');
    throw invalidRequest(
      `expected the base address of a server, such as ${scheme}://HOST/v1, without user name, query and fragment`,
    );
  },
  placeOf: (base) => base,
  addressOf: (base) => base,
  async load() {
    const { openApiStorage } = await import('../../adapters/api-client/index.ts');
    return {
      open: (base, { client }) => openApiStorage(base, client),
      async examine(base, client): Promise<Diagnosis> {
        const { pets } = openApiStorage(base, client);
        const problems = await pets.list({ limit: 1 }, { timeout: EXAMINATION_TIMEOUT }).then(
          () => [],
          (error: Error): Problem[] => [{ severity: 'error', message: error.message }],
        );
        return { location: base, exists: problems.length === 0 || undefined, problems };
      },
    };
  },
};
