/**
 * A clone and the tarball are installed by the npm of each supported version of Node.js, where neither Python nor a
 * compiler is found. `npm ci && npm start` then serves, and the command runs.
 */

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, inject, test } from 'vitest';
import { git } from '../../../scripts/git.ts';
import { REX_JSON } from '../../support/pets.ts';
import { environmentWithoutNpm, HERE, NODES, ROOT, readJson, run, TIMEOUT } from '../stage.ts';

/** The npm that is tested with each version of Node.js. None of the first three knows `allowScripts`. */
const NPM_OF: Readonly<Record<string, string>> = { 20: '10.8.2', 22: '10.9.9', 24: '11.6.2', 26: '11.19.1' };

/**
 * The versions of Node.js that install a clone, from the variable `PACKAGE_CLONES`. A clone has half a gigabyte of packages,
 * so by default only two do: the oldest version with which a clone can be installed, and the oldest that the package supports.
 */
const CLONES = (process.env['PACKAGE_CLONES'] ?? '20,22').split(',');

/** Other programs that installing and starting need, by name. */
const PROGRAMS = ['sh', 'env'];

const { folder, tarball } = inject('stage');
const { version } = readJson<{ version: string }>(join(ROOT, 'package.json'));
const npms = join(folder, 'npms');

beforeAll(async () => {
  mkdirSync(npms);
  writeFileSync(join(npms, 'package.json'), '{ "private": true }');
  const names = Object.entries(NPM_OF).map(([node, npm]) => `npm-${node}@npm:npm@${npm}`);
  await run('npm', ['install', '--prefer-offline', '--no-package-lock', ...names], { cwd: npms });
});

for (const [major, npmVersion] of Object.entries(NPM_OF)) {
  describe(`with Node.js ${major}, npm ${npmVersion}, and neither Python nor a compiler`, () => {
    const path = join(folder, `path-${major}`);
    const clone = join(folder, `clone-${major}`);
    const project = join(folder, `project-${major}`);
    const inClone = { cwd: clone, onlyPath: path };
    const inProject = { cwd: project, onlyPath: path };

    beforeAll(async () => {
      createPath(path, major);
      if (CLONES.includes(major)) await copyClone(clone);
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), '{ "private": true }');
      const found = ['python3', 'python', 'make', 'cc', 'gcc', 'g++'].filter((name) =>
        existsSync(join(path, name)),
      );
      assert.deepEqual(found, []);
      assert.equal(await run('npm', ['--version'], inProject), `${npmVersion}\n`);
      assert.match(await run('node', ['--version'], inProject), new RegExp(`^v${major}\\.`));
    });
    afterAll(() => {
      for (const each of [clone, project]) rmSync(each, { recursive: true, force: true });
    });

    if (CLONES.includes(major)) {
      test('npm ci prints one line in a clone, and no warning', async () => {
        assert.match(await run('sh', ['-c', 'npm ci 2>&1'], inClone), /^\nadded \d+ packages in \w+\n$/);
      });

      test('npm start serves, and SIGTERM stops it', () => serves(clone, path));

      test('npx animal-store runs the command of the clone', async () => {
        assert.equal(await run('npx', ['animal-store', '--version'], inClone), `${version}\n`);
      });
    }

    test('npm install installs the tarball in an empty project', async () => {
      const output = await run('sh', ['-c', `npm install --prefer-offline '${tarball}' 2>&1`], inProject);
      assert.match(output, /\nadded \d+ packages/);
      assert.equal(
        /EBADENGINE +package: 'animal-store@.*\n.*required: \{ node: '>=22\.12' \}/.test(output),
        major === '20',
      );
      if (major === '20') {
        const refused = await run('sh', ['-c', 'npx animal-store --version 2>&1 || true'], inProject);
        assert.match(refused, /^animal-store: expected Node\.js 22\.12 or later, got 20\.\d+\.\d+$/m);
      } else {
        assert.equal(await run('npx', ['animal-store', '--version'], inProject), `${version}\n`);
      }
    });
  });
}

/** Creates a folder that contains links to Node.js, to its npm and to {@link PROGRAMS}, and nothing else. */
function createPath(path: string, major: string): void {
  mkdirSync(path);
  const npm = join(npms, `node_modules/npm-${major}/bin`);
  symlinkSync(NODES[major] ?? join(HERE, `node_modules/node-${major}/bin/node`), join(path, 'node'));
  symlinkSync(join(npm, 'npm-cli.js'), join(path, 'npm'));
  symlinkSync(join(npm, 'npx-cli.js'), join(path, 'npx'));
  for (const name of PROGRAMS) {
    symlinkSync(
      execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim(),
      join(path, name),
    );
  }
}

/** Copies the files of this clone that git knows or would add. */
async function copyClone(clone: string): Promise<void> {
  const files = git(ROOT, 'ls-files', '--cached', '--others', '--exclude-standard');
  for (const file of files.trim().split('\n')) {
    if (existsSync(join(ROOT, file))) cpSync(join(ROOT, file), join(clone, file));
  }
}

/** Runs `npm start`, creates and lists a pet with the first key, and stops the server. */
async function serves(clone: string, path: string): Promise<void> {
  const server = spawn('npm', ['start'], {
    cwd: clone,
    env: { ...environmentWithoutNpm(), PATH: path, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(server, 'exit');
  try {
    let [url, key] = ['', ''];
    const signal = AbortSignal.timeout(TIMEOUT);
    for await (const line of createInterface({ input: server.stdout, signal })) {
      url ||= /^Listening on (\S+)$/.exec(line)?.[1] ?? '';
      key ||= /^ {2}(pets_\w+)$/.exec(line)?.[1] ?? '';
      if (key !== '') break;
    }
    assert.notEqual(key, '', 'npm start shows a key');
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const created = await fetch(`${url}/pets`, { method: 'POST', headers, body: REX_JSON });
    assert.equal(created.status, 201);
    assert.equal(await (await fetch(`${url}/pets`, { headers })).text(), `[${await created.text()}]`);
    assert.ok(existsSync(join(clone, 'data/animal-store.db')));
  } finally {
    server.kill('SIGTERM');
  }
  assert.deepEqual(await exited, [0, null]);
}
