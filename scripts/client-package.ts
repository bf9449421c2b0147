/**
 * Builds `animal-store-client`: the entry point `animal-store/client` as a package of its own, for those who need
 * neither the server nor its dependencies. Its compiled modules are also in the server's package. Usage, after `npm run
 * build`: `node scripts/client-package.ts`, which writes the package to the folder `dist-client`.
 */

import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import ts from 'typescript';

const ROOT = resolve(import.meta.dirname, '..');
const DIST = join(ROOT, 'dist');

/** The folder that the package is written to. */
export const CLIENT_PACKAGE: string = join(ROOT, 'dist-client');

const ENTRY = 'library/client';

const README = `# animal-store-client

The client of [animal-store](https://www.npmjs.com/package/animal-store): a store of pets over HTTP, exact to the last digit,
with safe retries. It has no dependencies, and runs on Node.js 22.12 or newer, Bun, Deno and in browsers.

\`\`\`js
import { createAnimalStore } from 'animal-store-client';

const store = await createAnimalStore({
  database: 'https://pets.example.org/v1',
  apiKey: process.env.API_KEY,
});
const { id } = await store.createPet({ name: 'Rex', categoryId: 9007199254740993n });
for await (const pet of store.listPets({ status: 'available' })) console.log(pet.id, pet.name);
\`\`\`

It is the same code as \`animal-store/client\`. The manual is \`docs/client.md\` in that package.
`;

/** Writes the package. Throws if the client imports a package or a `node:` module. */
export function writeClientPackage(): void {
  rmSync(CLIENT_PACKAGE, { recursive: true, force: true });
  for (const file of clientFiles()) {
    const target = join(CLIENT_PACKAGE, file);
    mkdirSync(dirname(target), { recursive: true });
    // Removes the reference to a source map, because this package contains no source maps.
    writeFileSync(
      target,
      readFileSync(join(DIST, file), 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, ''),
    );
  }
  const manifest = clientManifest(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  writeFileSync(join(CLIENT_PACKAGE, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  writeFileSync(join(CLIENT_PACKAGE, 'README.md'), README);
  cpSync(join(ROOT, 'LICENSE'), join(CLIENT_PACKAGE, 'LICENSE'));
}

/**
 * Returns the content of the client's package.json. The version and several other members are copied from the package.json of
 * `animal-store`.
 */
export function clientManifest(packageJson: string): Readonly<Record<string, unknown>> {
  const { name, version, license, engines, repository, publishConfig } = JSON.parse(packageJson);
  return {
    name: `${name}-client`,
    version,
    description: 'The client of an animal store: pets over HTTP, with exact integers and safe retries.',
    license,
    repository,
    type: 'module',
    engines,
    exports: {
      '.': { types: `./${ENTRY}.d.ts`, default: `./${ENTRY}.js` },
      './package.json': './package.json',
    },
    sideEffects: false,
    publishConfig,
  };
}

/** Returns the sorted paths, relative to `dist`, of the compiled modules of the client and of their declarations. */
export function clientFiles(): string[] {
  const files = new Set<string>();
  const add = (file: string) => {
    if (files.has(file)) return;
    files.add(file);
    for (const { fileName } of ts.preProcessFile(readFileSync(file, 'utf8'), true, true).importedFiles) {
      if (!fileName.startsWith('.'))
        throw new Error(`the client imports ${fileName} in ${relative(ROOT, file)}`);
      const imported = join(dirname(file), fileName);
      add(file.endsWith('.d.ts') ? imported.replace(/\.[jt]s$/, '.d.ts') : imported);
    }
  };
  for (const extension of ['js', 'd.ts']) add(join(DIST, `${ENTRY}.${extension}`));
  return [...files].map((file) => relative(DIST, file)).toSorted();
}

if (import.meta.main) {
  if (!existsSync(join(DIST, `${ENTRY}.js`))) throw new Error('there is nothing to pack: npm run build');
  writeClientPackage();
  console.log(`the package of the client: ${CLIENT_PACKAGE}`);
}
