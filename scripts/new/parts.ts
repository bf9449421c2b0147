/** What a project takes over: everything but this project's own past, and the parts that are not wanted. */

export type PartName = 'postgresql' | 'page' | 'client';

/** Files and folders of a part. What other modules and the manuals have of them is left out with them. */
export const PARTS: Readonly<Record<PartName, readonly string[]>> = {
  postgresql: [
    'bench/parts/cold.ts',
    'bench/parts/postgres.ts',
    'bench/peers/postgres-store.ts',
    'bench/postgres.ts',
    'deploy/compose.yaml',
    'deploy/kubernetes.yaml',
    'docs/api/animal-store-postgres.md',
    'docs/decisions/0011-postgresql.md',
    'docs/images/deployment.svg',
    'docs/postgresql.md',
    'examples/tracing',
    'src/adapters/postgres',
    'src/composition/databases/postgres.ts',
    'test/adapters/postgres',
    'test/deploy/kubernetes.deploy.ts',
    'test/deploy/two-servers.deploy.ts',
    'test/failover',
    'test/faults/history.faults.ts',
    'test/faults/increments.faults.ts',
    'test/faults/postgres.faults.ts',
    'test/support/postgres',
    'test/tracing',
  ],
  page: [
    'docs/decisions/0008-reference-page.md',
    'page',
    'scripts/build-page.js',
    'src/adapters/http/docs/page-assets.ts',
    'test/clients/browser',
    'test/clients/browser.clients.js',
    'test/page',
  ],
  client: [
    'docs/api/animal-store-client.md',
    'docs/client.md',
    'examples/animal-store-client.js',
    'examples/follow/animal-store-client.js',
    'examples/follow/copy.js',
    'page/samples/javascript.ts',
    'scripts/build-client.js',
    'scripts/client-check.ts',
    'scripts/client-package.ts',
    'scripts/demo.ts',
    'src/adapters/api-client',
    'src/adapters/http/docs/client-asset.ts',
    'src/composition/databases/api.ts',
    'src/library/client.ts',
    'test/adapters/api-client',
    'test/clients/browser/client.js',
    'test/clients/client-program.js',
    'test/clients/client-servers.js',
    'test/clients/client-story.js',
    'test/e2e/cli-server.test.ts',
    'test/e2e/demo.test.ts',
    'test/failover',
    'test/faults/client/recorded.ts',
    'test/faults/history.faults.ts',
    'test/faults/increments.faults.ts',
    'test/library/client-bundle.test.ts',
    'test/package/programs/client.ts',
    'test/runtimes/client.runtimes.js',
  ],
};

/** Files and folders of this project alone: its past, its figures, and the command that makes projects. */
export const OWN: readonly string[] = [
  'bench/results',
  'docs/a-feature.md',
  'docs/benchmark.svg',
  'docs/performance.md',
  'openapi/lifecycle.ts',
  'scripts/new.ts',
  'scripts/new',
  'src/adapters/api-client/deprecation.ts',
  'src/adapters/http/deprecation.ts',
  'src/adapters/http/operation-lifecycle.ts',
  'src/adapters/postgres/older-schemas.ts',
  'src/adapters/sqlite/older-schemas.ts',
  'src/application/deprecation.ts',
  'src/composition/config/lifecycle.ts',
  'test/adapters/api-client/deprecation.test.ts',
  'test/adapters/http/lifecycle.test.ts',
  'test/adapters/http/recorded',
  'test/adapters/http/recorded.test.ts',
  'test/adapters/postgres/older-stores.test.ts',
  'test/adapters/sqlite/older-stores.test.ts',
  'test/composition/pet-attributes.test.ts',
  'test/domain/pet-attributes.test.ts',
  'test/e2e/cli-unserved.test.ts',
  'test/new',
  'test/page/lifecycle.test.ts',
  'test/support/lifecycle.ts',
  'test/support/older-store.ts',
];

/** Reads the values of `--without`, which can be lists. Throws an `Error` for a part that does not exist. */
export function partsOf(values: readonly string[]): PartName[] {
  return values
    .flatMap((value) => value.split(','))
    .map((name) => {
      const part = (Object.keys(PARTS) as PartName[]).find((each) => each === name);
      if (part !== undefined) return part;
      throw new Error(`--without ${name}: expected ${Object.keys(PARTS).join(', ')}`);
    });
}
