import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { BIN, type RunOptions, runBin, temporaryFolder } from '../support/process.ts';

/** The path of an unsupported older Node.js in `PATH`, if there is one. */
const oldNode = (process.env['PATH'] ?? '')
  .split(':')
  .map((folder) => join(folder, 'node'))
  .find((node) => existsSync(node) && isOld(versionOf(node)));

function versionOf(node: string): string {
  return spawnSync(node, ['-p', 'process.versions.node'], { encoding: 'utf8' }).stdout.trim();
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 0 && (major < 22 || (major === 22 && minor < 12));
}

/** Runs `serve`, and expects it to fail with error lines and without a stack. Resolves with the lines. */
async function refusal(code: number, options: RunOptions): Promise<string[]> {
  const { out, exit } = runBin(['serve'], options);
  expect(await exit).toEqual({ code, signal: null });
  expect(out.stdout).toBe('');
  const lines = out.stderr.trimEnd().split('\n');
  for (const line of lines) expect(line).toMatch(/^animal-store: \S.*/);
  expect(out.stderr).not.toMatch(/^\s+at |node:internal|\.[jt]s:\d/m);
  return lines;
}

describe('a start that fails', { timeout: 30_000 }, () => {
  test('names a port that is in use', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => {
      other.close();
    });
    const { port } = other.address() as { port: number };
    for (const DATABASE_URL of ['memory:', 'sqlite:pets.db']) {
      const lines = await refusal(1, { env: { PORT: String(port), DATABASE_URL } });
      expect(lines).toHaveLength(1);
      expect(lines[0]).toContain(String(port));
    }
  });

  test('names a host that is not available', async () => {
    const lines = await refusal(1, { env: { HOST: '192.0.2.1', DATABASE_URL: 'memory:' } });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('192.0.2.1');
  });

  test.each([
    ['a folder', (path: string) => mkdirSync(path), 1],
    [
      'a text file',
      (path: string) => writeFileSync(path, 'this is no database, it is a text. '.repeat(100)),
      1,
    ],
    ['a database of another application', (path: string) => makeDatabase(path, 'CREATE TABLE t (x)'), 1],
    [
      'a store of a newer release',
      (path: string) => makeDatabase(path, 'PRAGMA application_id = 1346720851; PRAGMA user_version = 99'),
      1,
    ],
    ['a damaged store', (path: string) => makeDamaged(path, (bytes) => bytes.fill(0xa5, 8192, 16_384)), 1],
    ['a truncated store', (path: string) => makeDamaged(path, (bytes) => bytes.subarray(0, 12_288)), 1],
  ])('names the file when it is %s', async (_case, make, count) => {
    const cwd = temporaryFolder();
    make(join(cwd, 'pets.db'));
    const lines = await refusal(1, { cwd, env: { DATABASE_URL: 'sqlite:pets.db' } });
    expect(lines).toHaveLength(count);
    expect(lines[0]).toContain('pets.db');
  });

  test('names a folder that cannot be created', async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'file'), '');
    const lines = await refusal(1, { cwd, env: { DATABASE_URL: 'sqlite:file/pets.db' } });
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('file/pets.db');
  });

  test('reports every invalid variable, one line each', async () => {
    const env = { PORT: 'x', LOG_LEVEL: 'loud', API_KEYS: 'hunter2', DATABASE_URL: 'redis://me:hunter2@x' };
    const lines = await refusal(2, { env });
    expect(lines.map((line) => line.split(': ')[1]).toSorted()).toEqual([
      'API_KEYS',
      'DATABASE_URL',
      'LOG_LEVEL',
      'PORT',
    ]);
    expect(lines.join()).not.toContain('hunter2');
  });

  test.each(['22.11.0', '20.20.2', '18.19.1', '8.0.0'])(
    'reports the required Node.js version, on %s',
    async (version) => {
      const fake = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
      const lines = await refusal(1, {
        nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(fake)}`],
      });
      expect(lines).toEqual([`animal-store: expected Node.js 22.12 or later, got ${version}`]);
    },
  );

  test.skipIf(oldNode === undefined)(
    `reports the required version on a real old Node.js (${oldNode ?? 'not installed here'})`,
    async () => {
      const node = oldNode ?? '';
      const lines = await refusal(1, { node });
      expect(lines).toEqual([`animal-store: expected Node.js 22.12 or later, got ${versionOf(node)}`]);
    },
  );
});

function makeDatabase(path: string, sql: string): void {
  const db = new Database(path);
  db.exec(sql);
  db.close();
}

/** Creates a store with pets, and replaces the contents of its file. */
function makeDamaged(path: string, damage: (bytes: Buffer) => Buffer): void {
  const input = '{"name":"Rex","categoryId":7,"status":"sold"}\n'.repeat(1000);
  const env = { PATH: process.env['PATH'] ?? '', DATABASE_URL: `sqlite:${path}` };
  const { status, stderr } = spawnSync(process.execPath, [BIN, 'import', '-'], {
    env,
    input,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(stderr);
  writeFileSync(path, damage(readFileSync(path)));
}
