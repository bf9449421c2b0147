import type { Engine } from './engine.ts';

/**
 * The database engine for the URL `memory:`. It needs no driver and works in a browser. The data is lost when the
 * process ends.
 */
export const memory: Engine = {
  scheme: 'memory',
  usage: 'memory:',
  isDurable: false,
  parse: (rest) => (rest === '' ? '' : undefined),
  async load() {
    const { openMemoryStorage } = await import('../../adapters/memory/index.ts');
    return { open: () => openMemoryStorage(), files: () => [] };
  },
};
