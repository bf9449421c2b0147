import type { Storage } from '../../application/ports/storage.ts';
import type { Engine } from './engine.ts';
import { refuse } from './refuse.ts';

const LOST = 'the data is lost when the server ends: set DATABASE_URL to sqlite:PATH to keep it';

/** The engine for pets in memory. It needs no driver and works in a browser. */
export const memory: Engine<Storage> = {
  schemes: ['memory'],
  usage: 'memory:',
  isDurable: false,
  parse: (rest) => (rest === '' ? '' : refuse('memory: without a path', `memory:${rest}`)),
  placeOf: () => 'memory:',
  open: async () => (await import('../../adapters/memory/index.ts')).openMemoryStorage(),
  examine: async () => ({
    location: 'memory:',
    exists: true,
    problems: [{ severity: 'warning', message: LOST }],
  }),
};
