/** Who may import whom: the rules of `.dependency-cruiser.mjs`, and that they can fail. */

import { globSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { cruise, type ICruiseResult, type IForbiddenRuleType } from 'dependency-cruiser';
import extractDepcruiseConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../..');
const config = await extractDepcruiseConfig(join(ROOT, '.dependency-cruiser.mjs'));
const rules = config.forbidden as readonly (IForbiddenRuleType & { name: string; from: { path: string } })[];

async function cruiseSources(baseDir: string): Promise<ICruiseResult> {
  const ruleSet = { forbidden: [...rules] };
  const options = { ...config.options, tsConfig: { fileName: join(ROOT, 'tsconfig.json') } };
  const { output } = await cruise(['src'], { ...options, validate: true, ruleSet, baseDir });
  return output as ICruiseResult;
}

describe('the sources', () => {
  let result: ICruiseResult;
  let sources: string[];

  beforeAll(async () => {
    result = await cruiseSources(ROOT);
    sources = result.modules.map(({ source }) => source).filter((source) => source.startsWith('src/'));
  });

  test('are all looked at', () => {
    expect(sources.length).toBeGreaterThan(30);
    expect(sources.toSorted()).toEqual(globSync('src/**/*.{js,ts}', { cwd: ROOT }).toSorted());
    expect(result.summary.totalDependenciesCruised ?? 0).toBeGreaterThan(sources.length);
  });

  test('keep every rule', () => {
    expect(result.summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} -> ${to}`)).toEqual(
      [],
    );
  });

  test.each(rules.map((rule) => [rule.name, rule] as const))(
    'have a file under the rule %s',
    (_name, { from }) => {
      const under = sources.filter((source) => new RegExp(from.path).test(source));
      expect(under).not.toEqual([]);
    },
  );

  test('have a rule for the packages of every adapter', () => {
    const adapters = readdirSync(join(ROOT, 'src/adapters'));
    const named = rules.map(({ name }) => /^adapter-(\w+)-imports-its-driver$/.exec(name)?.[1]);
    expect(named.filter((name) => name !== undefined).toSorted()).toEqual(adapters.toSorted());
  });
});

/** One file that breaks each rule, and what it says. */
const BROKEN: Readonly<Record<string, readonly [path: string, text: string]>> = {
  'domain-imports-domain': ['src/domain/a.ts', "import 'node:fs';"],
  'application-imports-core': [
    'src/application/a.ts',
    "import type * as koa from 'koa'; export type K = typeof koa;",
  ],
  'adapter-imports-core-and-itself': ['src/adapters/http/a.ts', "import '../sqlite/empty.ts';"],
  'adapter-cli-imports-its-driver': ['src/adapters/cli/a.ts', "import 'koa';"],
  'adapter-http-imports-its-driver': ['src/adapters/http/b.ts', "import 'better-sqlite3';"],
  'adapter-log-imports-its-driver': ['src/adapters/log/a.ts', "import 'commander';"],
  'adapter-memory-imports-its-driver': ['src/adapters/memory/a.ts', "import 'valibot';"],
  'adapter-sqlite-imports-its-driver': ['src/adapters/sqlite/a.ts', "import 'pino';"],
  'main-imports-composition-and-cli': ['src/main.ts', "import './domain/empty.ts';"],
  'library-imports-the-core': ['src/index.ts', "import './adapters/sqlite/storage.ts';"],
  'library-loads-adapters-on-use': ['src/portable.ts', "await import('koa');"],
  'testing-imports-the-core': ['src/testing/a.ts', "import 'valibot';"],
  'only-the-container-knows-tsyringe': ['src/composition/a.ts', "import 'tsyringe';"],
  'no-cycle': ['src/composition/b.ts', "import './c.ts';"],
  'no-dev-dependency': ['src/composition/d.ts', "import 'fast-check';"],
  'no-unresolvable': ['src/composition/e.ts', "import './nowhere.ts';"],
};

const INNOCENT: Readonly<Record<string, string>> = {
  'src/domain/empty.ts': 'export {};',
  'src/application/good.ts': "import '../domain/empty.ts';",
  'src/adapters/sqlite/empty.ts':
    "import 'better-sqlite3'; import 'node:fs'; import '../../application/good.ts';",
  'src/adapters/sqlite/storage.ts': 'export {};',
  'src/composition/c.ts': "import './b.ts';",
  'src/composition/container.ts':
    "import 'tsyringe'; import 'reflect-metadata'; import '../adapters/sqlite/empty.ts';",
};

describe('a tree that breaks the rules on purpose', () => {
  function plant(files: Readonly<Record<string, string>>): string {
    const folder = mkdtempSync(join(tmpdir(), 'animal-store-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const name of ['node_modules', 'package.json']) symlinkSync(join(ROOT, name), join(folder, name));
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    return folder;
  }

  test('is found out, for every rule that there is', async () => {
    expect(Object.keys(BROKEN).toSorted()).toEqual(rules.map(({ name }) => name).toSorted());
    const { summary } = await cruiseSources(
      plant({ ...INNOCENT, ...Object.fromEntries(Object.values(BROKEN)) }),
    );
    for (const [name, [path]] of Object.entries(BROKEN)) {
      const culprits = summary.violations.filter(({ rule }) => rule.name === name).map(({ from }) => from);
      expect([...new Set(culprits)], name).toEqual([path]);
    }
  });

  test('and nobody else is blamed', async () => {
    const { 'src/composition/c.ts': _cycle, ...innocent } = INNOCENT;
    expect((await cruiseSources(plant(innocent))).summary.violations).toEqual([]);
  });
});
