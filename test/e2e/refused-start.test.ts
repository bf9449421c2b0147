/** The real command reports that it cannot start. test/composition/refused-start.test.ts has the reasons. */

import { expect, test } from 'vitest';
import { type RunOptions, runBin } from '../support/process.ts';

async function expectRefusal(status: number, message: string, options: RunOptions): Promise<void> {
  const { out, exit } = runBin(['serve'], options);
  expect(await exit).toEqual({ code: status, signal: null });
  expect(out).toEqual({ stdout: '', stderr: `animal-store: ${message}\n` });
}

test('a start with wrong settings ends with status 2 and one line for each', async () => {
  const message = [
    "PORT: expected an integer from 0 to 65535, got 'x'",
    "TRUST_PROXY: expected the number of proxies in front of the server, from 0 to 100, got 'x'",
  ].join('\nanimal-store: ');
  await expectRefusal(2, message, { env: { PORT: 'x', TRUST_PROXY: 'x' } });
});

test.each(['22.11.0', '20.20.2', '8.0.0'])('Node.js %s is not supported', async (version) => {
  const fake = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } })`;
  const nodeArgs = ['--import', `data:text/javascript,${encodeURIComponent(fake)}`];
  await expectRefusal(1, `expected Node.js 22.12 or later, got ${version}`, { nodeArgs });
});
