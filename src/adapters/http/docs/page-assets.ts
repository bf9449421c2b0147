import type { Asset } from './asset.ts';
import { PROGRAMS } from './programs.ts';

/** The files that the reference page loads, and the example programs. */
export const PAGE_ASSETS: readonly Asset[] = [
  { path: '/docs/docs.js', file: 'docs.js', type: 'text/javascript; charset=utf-8' },
  { path: '/docs/docs.css', file: 'docs.css', type: 'text/css; charset=utf-8' },
  { path: '/docs/icon.svg', file: 'icon.svg', type: 'image/svg+xml' },
  ...PROGRAMS.map((program) => ({
    path: `/docs/examples/${program}`,
    file: `examples/${program}`,
    type: 'text/plain; charset=utf-8',
  })),
];
