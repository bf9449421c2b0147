import type { ViteUserConfig } from 'vitest/config';
import { suite } from '../support/suite.ts';

const config: ViteUserConfig = suite({
  include: ['test/runtimes/*.runtimes.{js,ts}'],
  // The example for Next.js opens its store in the working directory.
  pool: 'forks',
  // Node.js itself imports the installed examples.
  server: { deps: { external: [/animal-store-runtimes-/] } },
});

export default config;
