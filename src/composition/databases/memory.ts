import type { Engine } from './engine.ts';
import { refuse } from './refuse.ts';

/** It needs no driver and works in a browser. */
export const memory: Engine = {
  schemes: ['memory'],
  usage: 'memory:',
  isDurable: false,
  parse: (rest) => (rest === '' ? '' : refuse('memory: without a path', `memory:${rest}`)),
  placeOf: () => 'memory:',
  async load() {
    const { openMemoryStorage } = await import('../../adapters/memory/index.ts');
    const message = 'the data is lost when the server ends: set DATABASE_URL to sqlite:PATH to keep it';
    return {
      open: () => openMemoryStorage(),
      examine: () => ({
        location: 'memory:',
        exists: true,
        problems: [{ severity: 'warning', message }],
      }),
    };
  },
};
