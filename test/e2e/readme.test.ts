/** Tests the commands of the README without changes. */

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { BIN, runCommand } from '../support/process.ts';
import { Workspace } from './workspace.ts';

const ROOT = dirname(dirname(BIN));
const README = readFileSync(join(ROOT, 'README.md'), 'utf8');
const BLOCKS = [...README.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = '']) => block.trim());
const LINES = BLOCKS.flatMap((block) => block.split('\n'));
const hasCurl = spawnSync('curl', ['--version']).status === 0;

describe('the README', { timeout: 60_000 }, () => {
  test('has only commands that are tested here', () => {
    const others = LINES.filter((line) => !/^(npm |KEY=|curl |node bin\/animal-store\.js )/.test(line));
    expect(others).toEqual([]);
  });

  test('has only npm commands that CI runs too', () => {
    const ci = readFileSync(join(ROOT, '.ci/run'), 'utf8') + readFileSync(join(ROOT, '.ci/start'), 'utf8');
    const commands = LINES.filter((line) => line.startsWith('npm '));
    expect(commands).toContain('npm ci && npm start');
    expect(commands).toContain('npm ci && npm test');
    for (const command of commands) {
      for (const part of command.split(' && ')) expect(ci).toContain(part);
    }
  });

  test.skipIf(!hasCurl)('creates and lists pets with curl (skipped if curl is not installed)', async () => {
    const work = new Workspace();
    const key = await work.createKey();
    const { origin } = await work.serve();
    const block = BLOCKS.find((text) => text.startsWith('KEY=')) ?? '';
    const script = block.replace('pets_…', key).replaceAll('http://127.0.0.1:3000', origin);
    const { stdout, stderr } = spawnSync('sh', ['-ec', script], { encoding: 'utf8' });
    const pet = '{"id":1,"name":"Rex","categoryId":7,"status":"available"}';
    expect({ stdout, stderr }).toEqual({ stdout: `${pet}[${pet}]`, stderr: '' });
  });

  test('has commands that work one after another', async () => {
    const work = new Workspace();
    const block = BLOCKS.find((text) => text.includes('keys create')) ?? '';
    const script = block.replaceAll('node bin/animal-store.js', `"${process.execPath}" "${BIN}"`);
    const { exit, out } = runCommand('sh', ['-ec', script], {
      cwd: work.folder,
      env: { DATABASE_URL: `sqlite:${work.store}` },
    });
    expect(await exit, out.stderr).toEqual({ code: 0, signal: null });
    expect(out.stdout).toMatch(/^pets_[0-9A-Za-z]{49}\n/);
    expect(existsSync(work.path('pets-backup.db'))).toBe(true);
  });

  test('links to files that exist', () => {
    const links = [...README.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = '']) => path);
    expect(links.length).toBeGreaterThan(3);
    for (const path of [...links, ...README.matchAll(/`(src\/[\w/-]+\.ts)`/g)].flat()) {
      if (!path.startsWith('`'))
        expect(existsSync(fileURLToPath(new URL(`../../${path}`, import.meta.url))), path).toBe(true);
    }
  });
});
