/** Who may import whom. `npm run check` and test/architecture hold src/ to it; every rule must match some file. */

/** The packages that each adapter speaks to the world with. */
const DRIVERS = {
  cli: ['commander'],
  http: ['@koa/cors', '@koa/router', '@valibot/to-json-schema', 'koa', 'koa-bodyparser', 'valibot'],
  log: ['pino', 'pino-pretty'],
  memory: [],
  sqlite: ['better-sqlite3'],
};

const PACKAGES = 'node_modules/';

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
      'The domain knows animals and nothing else: no package, no node: module.',
      { path: '^src/domain/' },
      { pathNot: '^src/domain/' },
    ),
    forbidden(
      'application-imports-core',
      'The use cases know the domain and their ports: no package, no node: module.',
      { path: '^src/application/' },
      { pathNot: '^src/(domain|application)/' },
    ),
    forbidden(
      'adapter-imports-core-and-itself',
      'An adapter knows the core and its own folder, never another adapter or what ties them together.',
      { path: '^src/adapters/([^/]+)/' },
      { path: '^src/', pathNot: '^src/(domain|application|adapters/$1)/' },
    ),
    ...Object.entries(DRIVERS).map(([adapter, drivers]) =>
      forbidden(
        `adapter-${adapter}-imports-its-driver`,
        `Of all packages, adapters/${adapter} may import ${drivers.join(', ') || 'none'}.`,
        { path: `^src/adapters/${adapter}/` },
        { path: PACKAGES, ...(drivers.length > 0 && { pathNot: packages(...drivers) }) },
      ),
    ),
    forbidden(
      'main-imports-composition-and-cli',
      'The process is arguments, signals and exit status; everything else is behind these two.',
      { path: '^src/main\\.ts$' },
      { path: ['^src/', PACKAGES], pathNot: '^src/(composition|adapters/cli)/' },
    ),
    forbidden(
      'library-imports-the-core',
      'What is imported from animal-store loads no driver and no package.',
      { path: '^src/(index|portable|open-store)\\.ts$' },
      {
        path: '.',
        pathNot: '^src/((index|portable|open-store)\\.ts$|domain/|application/)',
        dependencyTypesNot: ['dynamic-import'],
      },
    ),
    forbidden(
      'library-loads-adapters-on-use',
      'An adapter that a configuration names is the only other thing that the library may load.',
      { path: '^src/(index|portable|open-store)\\.ts$' },
      {
        path: '.',
        pathNot: '^src/((index|portable|open-store)\\.ts$|domain/|application/|adapters/[^/]+/storage\\.ts$)',
      },
    ),
    forbidden(
      'testing-imports-the-core',
      'The contracts know the ports, and no test runner and no adapter.',
      { path: '^src/testing/' },
      { path: ['^src/', PACKAGES], pathNot: '^src/(domain|application|testing)/' },
    ),
    forbidden(
      'only-the-container-knows-tsyringe',
      'Nothing else is bound to a container, so that the library needs none.',
      { path: '^src/', pathNot: '^src/composition/container\\.ts$' },
      { path: packages('tsyringe', 'reflect-metadata') },
    ),
    forbidden(
      'no-cycle',
      'Two modules that load each other are one.',
      { path: '^src/' },
      {
        circular: true,
        viaOnly: { dependencyTypesNot: ['type-only'] },
      },
    ),
    forbidden(
      'no-dev-dependency',
      'What the service needs to run is among the dependencies.',
      { path: '^src/' },
      { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'], dependencyTypesNot: ['type-only'] },
    ),
    forbidden('no-unresolvable', 'What is imported is there.', { path: '^src/' }, { couldNotResolve: true }),
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
