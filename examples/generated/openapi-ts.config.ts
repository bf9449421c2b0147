/** The configuration of `@hey-api/openapi-ts`: `npx openapi-ts`. `bigInt` makes each int64 a `bigint`. */

import { defineConfig } from '@hey-api/openapi-ts';

export default defineConfig({
  input: 'http://127.0.0.1:3000/openapi.json',
  output: { path: 'pets', importFileExtension: '.ts' },
  plugins: [
    '@hey-api/typescript',
    '@hey-api/client-fetch',
    { name: '@hey-api/transformers', bigInt: true },
    { name: '@hey-api/sdk', transformer: true },
  ],
});
