/** Computes `package.json` and `package-lock.json` of a new project, with only the packages that it needs. */

import { extname } from 'node:path';

interface About {
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  readonly scripts: Readonly<Record<string, string>>;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, object>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
}

interface Locked {
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
  readonly devOptional?: boolean;
}

interface Lock {
  readonly packages: Readonly<Record<string, Locked>>;
}

const GROUPS = ['dependencies', 'devDependencies', 'peerDependencies', 'peerDependenciesMeta'] as const;

/**
 * Returns `package.json` and `package-lock.json`.
 *
 * @param about the `package.json` of this project
 * @param own the members that are different in the `package.json` of the new project
 * @param lock the lock file of this project
 * @param modules the texts of the modules of the new project by their paths
 * @param isLibrary whether other programs import the project
 */
export function packageFiles(
  about: About,
  own: Pick<About, 'scripts'>,
  lock: Lock,
  modules: ReadonlyMap<string, string>,
  isLibrary: boolean,
): { about: object; lock: object } {
  const isFile = (word: string) => extname(word) === '' || /^(?:bin|dist)\//.test(word) || modules.has(word);
  const scripts = filtered(own.scripts, (_, script) =>
    script.split(' ').every((word) => !/^\w+\/.*\.[jt]s$/.test(word) || isFile(word)),
  );
  const isBuilt = (path: string) =>
    !path.startsWith('./dist/') || modules.has(path.replace('./dist', 'src').replace(/js$/, 'ts'));
  const check = scripts['check']?.replace(/ && npm run (\S+) --if-present$/, (_, name: string) =>
    name in scripts ? ` && npm run ${name}` : '',
  );
  const exports = filtered(about.exports, (_, target) =>
    isBuilt(typeof target === 'string' ? target : target.default),
  );
  const code = [...modules].filter(([path]) => !path.startsWith('.')).map(([, text]) => text);
  const isUsed = usesOf(lock, scripts, code.join('\n'));
  const groups = Object.fromEntries(GROUPS.map((group) => [group, filtered<unknown>(about[group], isUsed)]));
  const packages = reachable(lock.packages, groups);
  const allowScripts = filtered(about.allowScripts, (name) => `node_modules/${name}` in packages);
  const { name, version, ...rest } = { ...about, ...own } as About & Record<'name' | 'version', string>;
  const made = {
    name,
    version,
    ...rest,
    allowScripts,
    scripts: { ...scripts, check },
    ...groups,
    ...(isLibrary && { exports }),
  };
  const members = filtered(made, (member, value) => {
    if (!isLibrary && /^(?:exports|sideEffects|publishConfig)$/.test(member)) return false;
    return typeof value !== 'object' || Object.keys(value).length > 0;
  });
  const root = filtered(members, (member) => member in (lock.packages[''] ?? {}));
  return { about: members, lock: { ...lock, version, packages: { '': root, ...packages } } };
}

function filtered<T>(
  members: Readonly<Record<string, T>>,
  isKept: (name: string, value: T) => boolean,
): Record<string, T> {
  return Object.fromEntries(Object.entries(members).filter(([name, value]) => isKept(name, value)));
}

/**
 * Returns a function that tells whether a package is used: whether a module imports it, a script runs one of its commands, or it
 * has the types of a used package or of Node.js.
 */
function usesOf({ packages }: Lock, scripts: object, text: string): (name: string) => boolean {
  const words = new Set(Object.values(scripts).flatMap((script: string) => script.split(/[\s;]+/)));
  return function isUsed(name: string): boolean {
    const [, typed] = /^@types\/(.+)$/.exec(name) ?? [];
    if (typed !== undefined) return typed === 'node' || isUsed(typed);
    const commands = Object.keys(packages[`node_modules/${name}`]?.bin ?? {});
    return commands.some((each) => words.has(each)) || new RegExp(`['"]${name}['"/]`).test(text);
  };
}

/**
 * Returns the packages in the groups of dependencies, and all packages that they need. Sets `dev` on the packages
 * that a server does not need, unless they have `devOptional`.
 */
function reachable(packages: Lock['packages'], groups: Readonly<Record<string, object>>): Lock['packages'] {
  const collect = (names: readonly string[]): Set<string> => {
    const paths = new Set<string>();
    const visit = (name: string, from: string): void => {
      for (let folder = from; ; folder = folder.replace(/(?:^|\/)node_modules\/(?:@[^/]+\/)?[^/]+$/, '')) {
        const path = `${folder === '' ? '' : `${folder}/`}node_modules/${name}`;
        const found = packages[path];
        if (found !== undefined && !paths.has(path)) {
          paths.add(path);
          const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta } = found;
          const peers = filtered(peerDependencies, (each) => !peerDependenciesMeta?.[each]?.optional);
          for (const each of Object.keys({ ...dependencies, ...optionalDependencies, ...peers }))
            visit(each, path);
        }
        if (found !== undefined || folder === '') return;
      }
    };
    for (const name of names) visit(name, '');
    return paths;
  };
  const all = collect(Object.values(groups).flatMap(Object.keys));
  const served = collect(Object.keys(groups['dependencies'] ?? {}));
  const entries = Object.entries(packages).filter(([path]) => all.has(path));
  return Object.fromEntries(
    entries.map(([path, entry]) => [
      path,
      served.has(path) || entry.devOptional ? entry : { ...entry, dev: true },
    ]),
  );
}
