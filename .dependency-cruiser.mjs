/**
 * Which module may import which. `npm run check` applies these rules. Each of them must match at least one file.
 */

/** The packages that each adapter may import. */
const DRIVERS = {
  'api-client': [],
  cli: ['cli-progress', 'cli-table3', 'commander'],
  http: ['@koa/router', 'koa', 'koa-bodyparser', 'koa-compose', 'valibot'],
  log: ['pino'],
  memory: [],
  metrics: ['prom-client'],
  postgres: ['pg', 'pg-connection-string'],
  sqlite: ['better-sqlite3'],
  'storage-kit': [],
};

/** The adapters that are storages, and what these are built of. */
const STORAGES = '^src/adapters/(api-client|memory|postgres|sqlite|storage-kit)/';

const PACKAGES = 'node_modules/';

/** The reference page, which runs in the browser, and the generator of the OpenAPI document, which runs in the build. */
const PAGE = '^page/';
const OPENAPI = '^openapi/';

function packages(...names) {
  return `node_modules/(@types/)?(${names.map((name) => `${name}|${name.slice(1).replace('/', '__')}`).join('|')})/`;
}

function forbidden(name, comment, from, to) {
  return { name, comment, severity: 'error', from, to };
}

export default {
  forbidden: [
    forbidden(
      'domain-imports-domain',
      'The domain imports no package and no node: module.',
      { path: '^src/domain/' },
      { pathNot: '^src/domain/' },
    ),
    forbidden(
      'application-imports-core',
      'The application imports the domain and its own ports, no package and no node: module.',
      { path: '^src/application/' },
      { pathNot: '^src/(domain|application)/' },
    ),
    {
      name: 'application-serves-more-than-storages',
      comment: 'A module that storages alone call belongs to adapters/storage-kit.',
      severity: 'error',
      from: { path: '^src/', pathNot: STORAGES },
      module: { path: '^src/application/', numberOfDependentsLessThan: 1 },
    },
    forbidden(
      'adapter-imports-core-and-itself',
      'An adapter imports the core, the storage kit and its own folder, never another adapter or the composition.',
      { path: '^src/adapters/([^/]+)/' },
      { path: '^src/', pathNot: '^src/(domain|application|adapters/(storage-kit|$1))/' },
    ),
    forbidden(
      'storage-kit-serves-storages',
      'The other adapters have no use for what storages are built of.',
      { path: '^src/adapters/', pathNot: STORAGES },
      { path: '^src/adapters/storage-kit/' },
    ),
    ...Object.entries(DRIVERS).map(([adapter, drivers]) =>
      forbidden(
        `adapter-${adapter}-imports-its-driver`,
        `Packages that adapters/${adapter} may import: ${drivers.join(', ') || 'none'}.`,
        { path: `^src/adapters/${adapter}/` },
        { path: PACKAGES, ...(drivers.length > 0 && { pathNot: packages(...drivers) }) },
      ),
    ),
    forbidden(
      'adapter-is-imported-by-its-index',
      'Code outside an adapter imports its index.ts, or one of those that load no Koa and no driver, not a file behind it.',
      { path: '^src/', pathNot: '^src/adapters/' },
      {
        path: '^src/adapters/',
        pathNot: '^src/adapters/(([^/]+|postgres/url)/index|http/portable)\\.ts$',
      },
    ),
    forbidden(
      'api-client-uses-the-platform',
      'The client of the API runs in browsers too: it imports the core, the storage kit, no package and no node: module.',
      { path: '^src/adapters/api-client/' },
      { path: '.', pathNot: '^src/(domain|application|adapters/(api-client|storage-kit))/' },
    ),
    forbidden(
      'http-fetch-starts-no-server',
      'Where a Request is all there is, nothing that fetch.ts imports, however far away, listens.',
      { path: '^src/adapters/http/fetch\\.ts$' },
      { path: '^src/adapters/http/(server|connections)\\.ts$', reachable: true },
    ),
    forbidden(
      'page-imports-itself-and-its-parser',
      'The reference page runs in the browser: it imports no code of the server. Its parser and its guides are bundled with it.',
      { path: PAGE },
      { path: '.', pathNot: [PAGE, packages('marked'), '^docs/api\\.md$'] },
    ),
    forbidden(
      'page-is-imported-by-nobody',
      'The server serves the built files of the reference page.',
      { path: '^src/' },
      { path: PAGE },
    ),
    forbidden(
      'openapi-imports-the-api',
      'The OpenAPI document is generated from what HTTP means, and from the rules of the core.',
      { path: OPENAPI },
      {
        path: '.',
        pathNot: [
          OPENAPI,
          '^src/(domain|application)/',
          '^src/adapters/http/[^/]+\\.ts$',
          '^(node:)?fs$',
          packages('valibot', '@valibot/to-json-schema'),
        ],
      },
    ),
    forbidden(
      'openapi-is-imported-by-nobody',
      'The server serves the built OpenAPI document.',
      { path: '^(page|src)/' },
      { path: OPENAPI },
    ),
    forbidden(
      'main-imports-composition-and-cli',
      'The process handles arguments, signals and the exit status. The rest is behind these two folders.',
      { path: '^src/main\\.ts$' },
      { path: ['^src/', PACKAGES], pathNot: '^src/(composition|adapters/cli)/' },
    ),
    forbidden(
      'library-imports-core-and-databases',
      'The library imports the core, the list of databases and the client, no package and no node: module.',
      { path: '^src/library/' },
      { path: '.', pathNot: '^src/(domain|application|library|composition/databases|adapters/api-client)/' },
    ),
    forbidden(
      'databases-import-core',
      'The library imports the list of databases, so its static imports load no driver, and no adapter but a parser of URLs.',
      { path: '^src/composition/databases/' },
      {
        path: ['^src/', PACKAGES],
        pathNot: '^src/(domain|application|composition/databases|adapters/postgres/url)/',
        dependencyTypesNot: ['dynamic-import'],
      },
    ),
    forbidden(
      'databases-load-adapters',
      'The list of databases loads adapters and their drivers on use, and no other part of the composition.',
      { path: '^src/composition/databases/' },
      { path: '^src/', pathNot: '^src/(domain|application|composition/databases|adapters)/' },
    ),
    forbidden(
      'testing-imports-the-core',
      'The contract suites import the ports, no test runner and no adapter.',
      { path: '^src/testing/' },
      { path: ['^src/', PACKAGES], pathNot: '^src/(domain|application|testing)/' },
    ),
    forbidden(
      'only-the-container-imports-tsyringe',
      'No other file depends on a container, so the library needs none.',
      { path: '^src/', pathNot: '^src/composition/container\\.ts$' },
      { path: packages('tsyringe', 'reflect-metadata') },
    ),
    forbidden(
      'no-cycle',
      'Modules that import each other cannot be understood apart. Type-only imports count.',
      { path: '^(bench|openapi|page|src)/' },
      { circular: true },
    ),
    forbidden(
      'no-dev-dependency',
      'Packages that the service needs to run are dependencies, not devDependencies. pg is an optional peer dependency.',
      { path: '^src/' },
      {
        pathNot: packages('pg'),
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
      },
    ),
    forbidden(
      'no-unresolvable',
      'Each imported module exists.',
      { path: '^(openapi|page|src)/' },
      { couldNotResolve: true },
    ),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
    },
  },
};
