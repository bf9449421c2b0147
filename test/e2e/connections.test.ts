import { connect, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { Client } from '../support/client.ts';
import {
  BIN,
  OPERATOR_KEY,
  type RunningProcess,
  runCommand,
  stopService,
  THREADS,
} from '../support/process.ts';

const isPosix = process.platform !== 'win32';

/** Opens connections one after another, and resolves with the ones that the server did not close immediately. */
async function openConnections(origin: string, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const kept = new Set<Socket>();
  for (let number = 0; number < count; number++) {
    const socket = connect(Number(new URL(origin).port), '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('close', () => kept.delete(socket));
    kept.add(socket);
    socket.write('GET /livez HTTP/1.1\r\nHost: x\r\n\r\n');
    await new Promise((resolve) => socket.once('data', resolve).once('close', resolve));
  }
  return [...kept];
}

async function serveWithDescriptors(count: number): Promise<RunningProcess & { readonly origin: string }> {
  const command = `ulimit -n ${count} && exec "$0" "$@"`;
  const running = runCommand('bash', ['-c', command, process.execPath, BIN, 'serve'], {
    env: { API_KEYS: OPERATOR_KEY },
  });
  await expect.poll(() => running.out.stdout).toMatch(/^Listening on \S+\/v1$/m);
  const origin = /^Listening on (\S+)\/v1$/m.exec(running.out.stdout)?.[1] ?? '';
  return { ...running, origin };
}

test.skipIf(!isPosix)(
  'connections leave enough file descriptors for files when MAX_CONNECTIONS is not set',
  async () => {
    // Each further thread needs descriptors for its event loop and its connection to the database.
    const service = await serveWithDescriptors(64 + 16 * (THREADS - 1));
    const client = new Client(service.origin, OPERATOR_KEY);
    onTestFinished(() => client.close());
    expect((await client.get('/livez')).status).toBe(200);
    const kept = await openConnections(service.origin, 100);
    expect(kept.length).toBeGreaterThan(10);
    expect(kept.length).toBeLessThan(64);
    for (const target of ['/docs', '/docs/docs.js', '/openapi.json', '/v1/pets', '/readyz']) {
      expect([target, (await client.get(target)).status]).toEqual([target, 200]);
    }
    expect((await client.post({ name: 'Rex', categoryId: 1 })).status).toBe(201);
    for (const socket of kept) socket.destroy();
    expect(await stopService(service)).toEqual({ code: 0, signal: null });
  },
);
