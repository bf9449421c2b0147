/** The real command reports that it cannot start. test/composition/refused-start.test.ts has the reasons. */

import { expect, test } from 'vitest';
import { type RunOptions, runBin } from '../support/process.ts';

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
    'WORKERS: this variable is gone: start several servers of one store behind a proxy, such as animal-store@3001 and animal-store@3002',
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
