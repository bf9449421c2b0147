import type { Asset } from './asset.ts';

/** The client for JavaScript as one module, for programs that do not install the package. */
export const CLIENT_ASSETS: readonly Asset[] = [
  {
    path: '/docs/animal-store-client.js',
    file: 'animal-store-client.js',
    type: 'text/javascript; charset=utf-8',
  },
];
