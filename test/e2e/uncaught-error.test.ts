/** Tests a server in which code throws an error that no code catches. */

import { expect, test } from 'vitest';
import { Connection } from '../support/connection.ts';
import { linesOf } from '../support/log-streams.ts';
import { OPERATOR_KEY, type Service, startService } from '../support/process.ts';
import { createInFlight, REX } from './workspace.ts';

/** Starts a server that runs the given statement whenever it receives SIGUSR2. */
function startFaulty(statement: string): Promise<Service> {
  const script = `process.on('SIGUSR2', () => setImmediate(() => { ${statement} }));`;
  return startService({
    env: { API_KEYS: OPERATOR_KEY, SHUTDOWN_TIMEOUT_MS: '600000' },
    nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(script)}`],
  });
}

test('an uncaught error is logged, the requests in flight are completed, and the exit status is 1', async () => {
  const service = await startFaulty(`throw new TypeError('no such pet')`);
  const connection = await createInFlight(service.origin);
  service.child.kill('SIGUSR2');
  await expect.poll(() => service.out.stderr).toContain('"stopping"');
  await expect.poll(() => Connection.open(service.origin).catch(String)).toContain('ECONNREFUSED');
  connection.write(REX);
  expect(await connection.next()).toMatchObject({ status: 201, headers: { connection: 'close' } });
  expect(await service.exit).toEqual({ code: 1, signal: null });
  const lines = linesOf(service.out.stderr).filter(({ msg }) => msg !== 'request');
  expect(lines.map(({ msg }) => msg)).toEqual(['listening', 'uncaught error', 'stopping', 'stopped']);
  expect(lines[1]).toMatchObject({
    level: 60,
    err: { type: 'TypeError', message: 'no such pet', stack: expect.stringContaining('at ') },
  });
});

test('an uncaught error in a promise stops the server too, and a second one ends the process immediately', async () => {
  const service = await startFaulty(`Promise.reject(new TypeError('again'))`);
  const connection = await createInFlight(service.origin);
  service.child.kill('SIGUSR2');
  await expect.poll(() => service.out.stderr).toContain('"stopping"');
  service.child.kill('SIGUSR2');
  expect(await service.exit).toEqual({ code: 1, signal: null });
  const errors = linesOf(service.out.stderr).filter(({ msg }) => msg === 'uncaught error');
  expect(errors).toMatchObject(Array(2).fill({ level: 60, err: { type: 'TypeError', message: 'again' } }));
  // The process would have waited for this request.
  expect(await connection.rest()).toEqual([]);
});
