import type { Engine } from './engine.ts';

/**
 * The engine of `memory:`. The data is lost when the process ends. The engine needs no driver, and also works in a
 * browser.
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
