/** Applies the rules of `.dependency-cruiser.mjs` to src/, page/ and openapi/, and checks that each rule can fail. */

import { globSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';
import extractDepcruiseConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/process.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const config = await extractDepcruiseConfig(join(ROOT, '.dependency-cruiser.mjs'));
const rules = config.forbidden as readonly (IForbiddenRuleType & {
  name: string;
  from: { path: string; pathNot?: string };
})[];

async function cruiseSources(baseDir: string): Promise<ICruiseResult> {
  const { output } = await cruise(['bench', 'openapi', 'page', 'src'], {
    ...config.options,
    tsConfig: { fileName: join(ROOT, 'tsconfig.json') },
    validate: true,
    ruleSet: { forbidden: [...rules] },
    baseDir,
  });
  return output as ICruiseResult;
}

function foldersIn(path: string): string[] {
  const entries = readdirSync(join(ROOT, path), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .toSorted();
}

describe('the sources', () => {
  let result: ICruiseResult;
  let sources: string[];

  beforeAll(async () => {
    result = await cruiseSources(ROOT);
    sources = result.modules
      .map(({ source }) => source)
      .filter((source) => /^(openapi|page|src)\//.test(source));
  });

  test('are all read', () => {
    expect(sources.length).toBeGreaterThan(30);
    expect(sources.toSorted()).toEqual(globSync('{openapi,page,src}/**/*.{js,ts}', { cwd: ROOT }).toSorted());
    expect(result.summary.totalDependenciesCruised ?? 0).toBeGreaterThan(sources.length);
  });

  test('follow every rule', () => {
    expect(result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual(
      [],
    );
  });

  test.each(rules.map((rule) => [rule.name, rule] as const))(
    'have a file under the rule %s',
    (_name, { from }) => {
      const matches = (source: string) =>
        new RegExp(from.path).test(source) &&
        !(from.pathNot !== undefined && new RegExp(from.pathNot).test(source));
      expect(sources.filter(matches)).not.toEqual([]);
    },
  );

  test('have a rule for the packages of every adapter', () => {
    const named = rules.map(({ name }) => /^adapter-([\w-]+)-imports-its-driver$/.exec(name)?.[1]);
    expect(named.filter((name) => name !== undefined).toSorted()).toEqual(foldersIn('src/adapters'));
  });

  test.each(foldersIn('src/adapters'))('have an index.ts of the adapter %s', (adapter) => {
    expect(sources).toContain(`src/adapters/${adapter}/index.ts`);
  });
});

/** The files that break each rule, by the name of the rule. */
const BROKEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'domain-imports-domain': { 'src/domain/a.ts': "import 'node:fs';" },
  'application-imports-core': {
    'src/application/a.ts': "import type * as koa from 'koa'; export type K = typeof koa;",
  },
  'application-serves-more-than-storages': {
    'src/application/a.ts': "import type * as koa from 'koa'; export type K = typeof koa;",
    'src/application/b.ts': 'export {};',
  },
  'storage-kit-serves-storages': { 'src/adapters/cli/b.ts': "import '../storage-kit/empty.ts';" },
  'adapter-imports-core-and-itself': { 'src/adapters/http/a.ts': "import '../sqlite/index.ts';" },
  'adapter-api-client-imports-its-driver': { 'src/adapters/api-client/a.ts': "import 'koa';" },
  'adapter-cli-imports-its-driver': { 'src/adapters/cli/a.ts': "import 'koa';" },
  'adapter-http-imports-its-driver': { 'src/adapters/http/b.ts': "import 'better-sqlite3';" },
  'adapter-log-imports-its-driver': { 'src/adapters/log/a.ts': "import 'commander';" },
  'adapter-memory-imports-its-driver': { 'src/adapters/memory/a.ts': "import 'valibot';" },
  'adapter-metrics-imports-its-driver': { 'src/adapters/metrics/a.ts': "import 'pino';" },
  'adapter-postgres-imports-its-driver': {
    'src/adapters/postgres/a.ts': "import 'pino'; import '../../application/b.ts';",
  },
  'adapter-sqlite-imports-its-driver': { 'src/adapters/sqlite/a.ts': "import 'pino';" },
  'adapter-storage-kit-imports-its-driver': { 'src/adapters/storage-kit/a.ts': "import 'pino';" },
  'adapter-is-imported-by-its-index': {
    'src/composition/f.ts': "import '../adapters/sqlite/empty.ts';",
    'src/composition/databases/g.ts': "await import('../../adapters/sqlite/empty.ts');",
  },
  'api-client-uses-the-platform': {
    'src/adapters/api-client/a.ts': "import 'koa';",
    'src/adapters/api-client/b.ts': "import 'node:crypto';",
  },
  'http-fetch-starts-no-server': { 'src/adapters/http/fetch.ts': "import './c.ts';" },
  'page-imports-itself-and-its-parser': {
    'page/a.ts': "import type { A } from '../src/adapters/http/empty.ts'; export type B = A;",
    'page/b.ts': "import 'valibot';",
    'page/c.ts': "import 'node:fs';",
    'page/view/d.ts': "import '../../src/domain/empty.ts';",
  },
  'page-is-imported-by-nobody': { 'src/adapters/http/docs/c.ts': "import '../../../../page/empty.ts';" },
  'openapi-imports-the-api': {
    'openapi/a.ts': "import '../src/adapters/http/docs/empty.ts';",
    'openapi/b.ts': "import 'koa';",
    'openapi/c.ts': "import '../page/empty.ts';",
  },
  'openapi-is-imported-by-nobody': {
    'src/adapters/http/docs/d.ts': "import '../../../../openapi/empty.ts';",
  },
  'main-imports-composition-and-cli': { 'src/main.ts': "import './domain/empty.ts';" },
  'library-imports-core-and-databases': {
    'src/library/a.ts': "await import('../adapters/sqlite/index.ts');",
    'src/library/b.ts': "import '../composition/container.ts';",
    'src/library/c.ts': "import 'node:fs';",
  },
  'databases-import-core': {
    'src/composition/databases/a.ts': "import '../../adapters/sqlite/index.ts';",
    'src/composition/databases/b.ts': "import 'better-sqlite3';",
    'src/composition/databases/c.ts':
      "import type { E } from '../../adapters/sqlite/index.ts'; export type F = E;",
  },
  'databases-load-adapters': { 'src/composition/databases/d.ts': "await import('../container.ts');" },
  'testing-imports-the-core': { 'src/testing/a.ts': "import 'valibot';" },
  'only-the-container-imports-tsyringe': { 'src/composition/a.ts': "import 'tsyringe';" },
  'no-cycle': {
    'src/composition/b.ts': "import type { C } from './c.ts'; export type B = C;",
    'bench/a.ts': "import './a.ts';",
  },
  'no-dev-dependency': { 'src/composition/d.ts': "import 'fast-check';" },
  'no-unresolvable': { 'src/composition/e.ts': "import './nowhere.ts';" },
};

const INNOCENT: Readonly<Record<string, string>> = {
  'bench/empty.ts': 'export {};',
  'src/domain/empty.ts': 'export {};',
  'src/application/good.ts': "import '../domain/empty.ts';",
  'src/adapters/http/empty.ts': "import 'valibot'; import '@koa/router'; export type A = string;",
  'src/adapters/http/docs/empty.ts': "import '../empty.ts';",
  'src/adapters/http/c.ts': "import './server.ts';",
  'src/adapters/http/server.ts': 'export {};',
  'openapi/empty.ts': "import 'valibot'; import 'node:fs'; import '../src/adapters/http/empty.ts';",
  'page/empty.ts': 'export {};',
  'page/view/good.ts': "import 'marked'; import '../empty.ts';",
  'src/adapters/http/index.ts': "import 'koa'; import './empty.ts';",
  'src/adapters/postgres/empty.ts': "import 'pg'; import '../storage-kit/empty.ts';",
  'src/adapters/storage-kit/empty.ts': "import '../../application/good.ts';",
  'src/adapters/sqlite/empty.ts':
    "import 'better-sqlite3'; import 'node:fs'; import '../../application/good.ts';",
  'src/adapters/sqlite/index.ts': "import './empty.ts'; export type E = string;",
  'src/composition/c.ts': "import type { B } from './b.ts'; export type C = B;",
  'src/composition/container.ts':
    "import 'tsyringe'; import 'reflect-metadata'; import '../adapters/sqlite/index.ts';",
  'src/composition/databases/good.ts':
    "import '../../application/good.ts'; await import('../../adapters/sqlite/index.ts');",
  'src/library/index.ts': "import '../application/good.ts'; import '../composition/databases/good.ts';",
};

describe('a tree that breaks the rules on purpose', () => {
  function plant(files: Readonly<Record<string, string>>): string {
    const folder = temporaryFolder();
    for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(folder, name));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  }

  test('violates each rule in exactly the files that are listed for the rule', async () => {
    expect(Object.keys(BROKEN).toSorted()).toEqual(rules.map(({ name }) => name).toSorted());
    const { summary } = await cruiseSources(
      plant({ ...INNOCENT, ...Object.assign({}, ...Object.values(BROKEN)) }),
    );
    for (const [name, files] of Object.entries(BROKEN)) {
      const culprits = summary.violations.filter(({ rule }) => rule.name === name).map(({ from }) => from);
      expect([...new Set(culprits)].toSorted(), name).toEqual(Object.keys(files).toSorted());
    }
  });

  test('violates no rule without those files', async () => {
    const { 'src/composition/c.ts': _cycle, ...innocent } = INNOCENT;
    expect((await cruiseSources(plant(innocent))).summary.violations).toEqual([]);
  });
});
