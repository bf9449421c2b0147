/** Tests a server in which code throws an error that no code catches. */

import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Connection } from '../support/connection.ts';
import { OPERATOR_KEY, type Service, startService } from '../support/process.ts';

const REX = '{"name":"Rex","categoryId":7}';

/** Starts a server that runs the given statement whenever it receives SIGUSR2. */
function startFaulty(statement: string): Promise<Service> {
  const script = `process.on('SIGUSR2', () => setImmediate(() => { ${statement} }));`;
  return startService({
    env: { API_KEYS: OPERATOR_KEY, SHUTDOWN_TIMEOUT_MS: '10000' },
    nodeArgs: ['--import', `data:text/javascript,${encodeURIComponent(script)}`],
  });
}

/** Sends the head of a create. Resolves when the server waits for the body. */
async function beginCreate({ origin }: Service): Promise<Connection> {
  const connection = await Connection.open(origin);
  connection.write(
    `POST /v1/pets HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${OPERATOR_KEY}\r\nExpect: 100-continue\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${REX.length}\r\n\r\n`,
  );
  await new Promise((resolve) => connection.socket.once('received', resolve));
  return connection;
}

function linesOf({
  out,
}: Service): { level: number; msg: string; err?: { message: string; stack: string } }[] {
  return out.stderr
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('an uncaught error of a server', { timeout: 30_000 }, () => {
  test.each([
    ['that is thrown', `throw new TypeError('no such pet')`],
    ['in a promise', `Promise.reject(new TypeError('no such pet'))`],
  ])(
    '%s: is logged, the requests in flight are completed, and the exit status is 1',
    async (_, statement) => {
      const service = await startFaulty(statement);
      const connection = await beginCreate(service);
      service.child.kill('SIGUSR2');
      await expect.poll(() => service.out.stderr).toContain('"stopping"');
      await expect.poll(() => Connection.open(service.origin).catch(String)).toContain('ECONNREFUSED');
      connection.write(REX);
      expect(await connection.next()).toMatchObject({ status: 201, headers: { connection: 'close' } });
      expect(await service.exit).toEqual({ code: 1, signal: null });
      const lines = linesOf(service).filter(({ msg }) => msg !== 'request');
      expect(lines.map(({ msg }) => msg)).toEqual(['listening', 'uncaught error', 'stopping', 'stopped']);
      expect(lines[1]).toMatchObject({ level: 60, err: { type: 'TypeError', message: 'no such pet' } });
      expect(lines[1]?.err?.stack).toContain('at ');
    },
  );

  test('that is followed by a second one: the process ends immediately, and both are logged', async () => {
    const service = await startFaulty(`throw new Error('again')`);
    const connection = await beginCreate(service);
    service.child.kill('SIGUSR2');
    await expect.poll(() => service.out.stderr).toContain('"stopping"');
    await delay(100);
    const start = performance.now();
    service.child.kill('SIGUSR2');
    expect(await service.exit).toEqual({ code: 1, signal: null });
    expect(performance.now() - start).toBeLessThan(2000);
    expect(linesOf(service).filter(({ msg }) => msg === 'uncaught error')).toHaveLength(2);
    expect(await connection.rest()).toEqual([]);
  });
});
