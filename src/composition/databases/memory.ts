import type { Engine } from './engine.ts';

/** The engine of `memory:`, which needs no driver and works in a browser. The data is lost when the process ends. */
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
