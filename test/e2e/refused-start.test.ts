/** The real command reports that it cannot start. test/composition/refused-start.test.ts has the reasons. */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type RunOptions, runBin } from '../support/process.ts';

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

async function expectRefusal(status: number, message: string, options: RunOptions): Promise<void> {
  const { out, exit } = runBin(['serve'], options);
  expect(await exit).toEqual({ code: status, signal: null });
  expect(out).toEqual({ stdout: '', stderr: `animal-store: ${message}\n` });
}

test('a start with a wrong setting ends with status 2 and one line', async () => {
  const message = "PORT: expected an integer from 0 to 65535, got 'x'";
  await expectRefusal(2, message, { env: { PORT: 'x' } });
});

// only this project: from here
test('a start with variables of an older release says all of what replaces them', async () => {
  const message = [
    'WORKERS: this variable is gone: start several servers of one store behind a proxy, such as animal-store@1 and animal-store@2',
    "TRUST_PROXY: expected the number of proxies in front of the server, from 0 to 100, got '10.0.0.0/8'",
    "FIRST_KEY: expected one of print, none, got 'file:/run/key'",
  ].join('\nanimal-store: ');
  await expectRefusal(2, message, {
    env: { WORKERS: '2', TRUST_PROXY: '10.0.0.0/8', FIRST_KEY: 'file:/run/key' },
  });
});
// only this project: to here

test.each(['22.11.0', '20.20.2', '18.19.1', '8.0.0'])('Node.js %s is not supported', async (version) => {
  const fake = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(fake)}`];
  await expectRefusal(1, `expected Node.js 22.12 or later, got ${version}`, { nodeArgs });
});

test.skipIf(oldNode === undefined)(
  `a real old Node.js is not supported (${oldNode ?? 'not installed here'})`,
  async () => {
    const node = oldNode ?? '';
    await expectRefusal(1, `expected Node.js 22.12 or later, got ${versionOf(node)}`, { node });
  },
);
