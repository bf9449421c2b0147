/** Ctrl-C on `npm start`. test/e2e/npm-start.test.ts has the first Ctrl-C. */

import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { hasScript, REX, startOnTerminal } from '../e2e/terminal.ts';

test.skipIf(!hasScript)(
  'one Ctrl-C gives the requests in flight time, although the server receives two signals',
  async () => {
    const { connection, pressCtrlC, out, exit } = await startOnTerminal();
    pressCtrlC();
    await expect.poll(() => out.stdout).toContain('stopping');
    await sleep(500);
    connection.write(REX);
    expect(await connection.next()).toMatchObject({ status: 201, headers: { connection: 'close' } });
    expect(await exit).toEqual({ code: 0, signal: null });
  },
);

test.skipIf(!hasScript)('a second Ctrl-C, a second later, ends the server immediately', async () => {
  const { connection, pressCtrlC, out, exit } = await startOnTerminal({ SHUTDOWN_TIMEOUT_MS: '600000' });
  pressCtrlC();
  await expect.poll(() => out.stdout).toContain('stopping');
  await sleep(1000);
  pressCtrlC();
  expect(await exit).toMatchObject({ signal: null });
  expect(out.stdout).not.toContain('stopped');
  expect(await connection.rest()).toEqual([]);
});
