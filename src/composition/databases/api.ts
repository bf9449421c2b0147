import { parseApiAddress } from './api-address.ts';
import type { Engine } from './engine.ts';

/** Error messages recommend this tool for work that the API does not support. */
const TOOL = 'animal-store on the machine of the server';

const EXAMINATION_TIMEOUT = 5000;

/** The engine for the base address of a server, such as `https://pets.example.org/v1`. It needs `fetch`, and no driver. */
export const api: Engine = {
  schemes: ['https', 'http'],
  usage: 'https://HOST/v1',
  ownTools: { backup: TOOL, import: TOOL, keys: TOOL, 'new-epoch': TOOL, restore: TOOL },
  isDurable: true,
  isRemote: true,
  parse: parseApiAddress,
  placeOf: (base) => base,
  async open(base, { client }) {
    const { openApiStorage } = await import('../../adapters/api-client/index.ts');
    return openApiStorage(base, client);
  },
  async examine(base, client) {
    const { pets } = await api.open(base, { client });
    await pets.list({ limit: 1 }, { timeout: EXAMINATION_TIMEOUT });
    return { location: base, exists: true, problems: [] };
  },
};
