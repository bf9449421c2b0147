/** Lists the files that a new project takes from this one: its base, and the parts that `--with` adds. */

export type PartName =
  | 'postgresql'
  | 'page'
  | 'client'
  | 'completion'
  | 'transfer'
  | 'fetch'
  | 'library'
  | 'proofs';

/** The files and folders of each part. If a part is not selected, references to its files are removed from other modules. */
export const PARTS: Readonly<Record<PartName, readonly string[]>> = {
  postgresql: [
    'deploy/compose.yaml',
    'src/adapters/postgres',
    'src/composition/databases/postgres.ts',
    'test/adapters/postgres',
    'test/support/postgres',
  ],
  page: ['page', 'scripts/build-page.js', 'src/adapters/http/docs/page-assets.ts', 'test/page'],
  client: [
    'scripts/build-bundle.js',
    'scripts/build-client.js',
    'src/adapters/api-client',
    'src/adapters/http/docs/client-asset.ts',
    'src/composition/databases/api.ts',
    'src/library/client.ts',
    'test/adapters/api-client',
    'test/composition/addresses.test.ts',
    'test/e2e/cli-server.test.ts',
    'test/library/client-bundle.test.ts',
  ],
  completion: ['src/adapters/cli/commands/completion.ts', 'test/adapters/cli/completion.test.ts'],
  transfer: [
    'src/adapters/cli/commands/export.ts',
    'src/adapters/cli/commands/import.ts',
    'src/adapters/memory/pet-transfer.ts',
    'src/adapters/postgres/pet-transfer.ts',
    'src/adapters/sqlite/pet-transfer.ts',
    'src/application/import-pets.ts',
    'src/application/ports/pet-transfer.ts',
    'src/testing/fixtures/transfers.ts',
    'src/testing/pet-import.contract.ts',
    'src/testing/pet-transfer.contract.ts',
    'test/adapters/cli/export.test.ts',
    'test/adapters/cli/import.test.ts',
    'test/adapters/cli/lines.test.ts',
    'test/adapters/postgres/transfer.test.ts',
    'test/adapters/sqlite/pet-transfer.test.ts',
    'test/application/import-pets.test.ts',
    'test/application/transfer.test.ts',
    'test/composition/import-command.test.ts',
    'test/e2e/cli-transfer.test.ts',
  ],
  fetch: [
    'src/adapters/http/fetch-messages.ts',
    'src/adapters/http/fetch.ts',
    'test/library/fetch.test.ts',
    'test/library/middleware.test.ts',
  ],
  library: [
    'src/composition/databases/client-options.ts',
    'src/library',
    'test/composition/client-options.test.ts',
    'test/library',
  ],
  proofs: [
    'src/testing/differential.contract.ts',
    'src/testing/differential',
    'src/testing/history.contract.ts',
    'src/testing/history',
    'test/adapters/cli/control-characters.test.ts',
    'test/adapters/http/bad-message.test.ts',
    'test/adapters/http/host-code.test.ts',
    'test/adapters/http/keys-in-log.test.ts',
    'test/adapters/http/overload.test.ts',
    'test/adapters/http/pipelines.test.ts',
    'test/adapters/http/properties.test.ts',
    'test/adapters/http/slow-client.test.ts',
    'test/adapters/http/stopping.test.ts',
    'test/adapters/http/tunnels.test.ts',
    'test/adapters/sqlite/changed-files.test.ts',
    'test/adapters/sqlite/faults.test.ts',
    'test/adapters/sqlite/file-modes.test.ts',
    'test/adapters/sqlite/read-order.test.ts',
    'test/adapters/sqlite/writer-start.test.ts',
    'test/adapters/sqlite/writer-timeout.test.ts',
    'test/domain/json-time.test.ts',
    'test/domain/visible.test.ts',
    'test/e2e/cli-output.test.ts',
    'test/e2e/disk.test.ts',
    'test/e2e/log.test.ts',
    'test/e2e/npm-start.test.ts',
    'test/e2e/uncaught-error.test.ts',
    'test/support/canary-setup.ts',
    'test/support/canary.test.ts',
    'test/support/canary.ts',
    'test/support/faulty-disk.c',
    'test/support/gate.ts',
    'test/support/pipeline.ts',
    'test/support/plain-model.ts',
    'test/testing',
  ],
};

/** Patterns that match the strings of a part in tests: its commands, or the URLs of its storage. */
const WORDS: Partial<Record<PartName, RegExp>> = {
  postgresql: /^postgres(?:ql)?:/,
  completion: /^completion$/,
  transfer: /^(?:animal-store )?(?:import|export)(?: |$)/,
};

/** The other parts that a part needs. */
const NEEDS: Partial<Record<PartName, readonly PartName[]>> = {
  client: ['library'],
  fetch: ['library'],
  page: ['client'],
  proofs: ['transfer'],
};

export const NAMES: readonly PartName[] = Object.keys(PARTS) as PartName[];

/** Files and folders that a new project takes. All others, such as the benchmark, are only for this project. */
export const TAKEN: readonly string[] = [
  '.dependency-cruiser.mjs',
  '.dockerignore',
  '.editorconfig',
  '.npmrc',
  '.nvmrc',
  'LICENSE',
  'bin',
  'deploy/Containerfile',
  'deploy/animal-store',
  'deploy/animal-store-backup.service',
  'deploy/animal-store-backup.timer',
  'deploy/animal-store.service',
  'deploy/compose.yaml',
  'openapi',
  'page',
  'scripts/build-bundle.js',
  'scripts/build-client.js',
  'scripts/build-docs.js',
  'scripts/build-files.js',
  'scripts/build-page.js',
  'scripts/can-build.js',
  'scripts/tables.ts',
  'src',
  'test',
  'tsconfig.build.json',
];

/** Files and folders below {@link TAKEN} that are only for this project, so a new project does not take them. */
export const OWN: readonly string[] = [
  'openapi/lifecycle.ts',
  'src/adapters/api-client/deprecation.ts',
  'src/adapters/http/deprecation.ts',
  'src/adapters/http/docs/programs.ts',
  'src/adapters/http/operation-lifecycle.ts',
  'src/adapters/storage-kit/older-schemas.ts',
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
  'test/architecture',
  'test/clients',
  'test/deploy',
  'test/e2e/demo.test.ts',
  'test/e2e/manuals.test.ts',
  'test/entity',
  'test/failover',
  'test/faults',
  'test/flaky.md',
  'test/library/api-report.test.ts',
  'test/library/examples.test.ts',
  'test/library/release-check.test.ts',
  'test/library/run-examples.ts',
  'test/manuals',
  'test/million.ts',
  'test/mutation',
  'test/new',
  'test/package',
  'test/page/lifecycle.test.ts',
  'test/reporter.test.ts',
  'test/reporter.ts',
  'test/runtimes',
  'test/skips.ts',
  'test/support/lifecycle.ts',
  'test/support/older-store.ts',
  'test/tracing',
];

/** Returns whether a new project with these parts gets the file at this path. */
export function isTaken(path: string, parts: readonly PartName[]): boolean {
  if (!isBelow(path, TAKEN) || isBelow(path, OWN)) return false;
  return !isOfOtherPart(path, parts);
}

/** Returns whether a string in a test is about a part that is not selected. */
export function isSaidOfOthers(text: string, parts: readonly PartName[]): boolean {
  return NAMES.some((part) => !parts.includes(part) && WORDS[part]?.test(text));
}

/** Returns whether a file belongs to a part that is not selected. */
export function isOfOtherPart(path: string, parts: readonly PartName[]): boolean {
  return NAMES.some((part) => !parts.includes(part) && isBelow(path, PARTS[part]));
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path === folder || path.startsWith(`${folder}/`));
}

/**
 * Reads the values of `--with`, each of which can be a list separated by commas. Throws an `Error` for a part that does not exist.
 */
export function partsOf(values: readonly string[]): PartName[] {
  const named = values.flatMap((value) => value.split(','));
  const unknown = named.find((name) => !(NAMES as readonly string[]).includes(name));
  if (unknown !== undefined) throw new Error(`--with ${unknown}: expected ${NAMES.join(', ')}`);
  return NAMES.filter((part) => named.some((name) => withNeeds(name as PartName).includes(part)));
}

function withNeeds(part: PartName): PartName[] {
  return [part, ...(NEEDS[part] ?? []).flatMap(withNeeds)];
}
