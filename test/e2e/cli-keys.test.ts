/** Commands that change the API keys of a store, while a server in another process uses the store. */

import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { isApiKey } from '../../src/domain/api-key.ts';
import type { Service } from '../support/process.ts';
import { Workspace } from './workspace.ts';

async function statusWith({ client }: Service, key: string): Promise<number> {
  return (await client.request('GET', '/v1/pets', { key })).status;
}

test('a running server notices at once that keys are created, rotated and revoked', async () => {
  const work = new Workspace();
  const server = await work.serve();
  const created = await work.run(['keys', 'create', '--name', 'shop', '--expires', '90d']);
  expect([created.status, created.err]).toEqual([0, expect.stringContaining('shop')]);
  const first = created.out.trim();
  expect(isApiKey(first)).toBe(true);
  expect(await statusWith(server, first)).toBe(200);

  const today = new Date().toISOString().slice(0, 10);
  await expect
    .poll(async () => JSON.parse(await work.outputHere(['keys', 'list', '--json'])))
    .toMatchObject([{ name: 'first key' }, { id: '2', name: 'shop', lastUsedOn: today }]);

  const second = (await work.outputHere(['keys', 'rotate', '2'])).trim();
  expect([await statusWith(server, first), await statusWith(server, second)]).toEqual([200, 200]);
  const third = (await work.outputHere(['keys', 'rotate', '3', '--overlap', '0'])).trim();
  expect([await statusWith(server, second), await statusWith(server, third)]).toEqual([401, 200]);

  expect(await work.outputHere(['keys', 'revoke', '4'])).toBe('Key 4 (shop) is revoked.\n');
  expect([await statusWith(server, third), await statusWith(server, first)]).toEqual([401, 200]);
});

test('a command that a second signal ends says that its outcome is unknown', async () => {
  const database = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void database.close());
  await once(database, 'listening');
  const { port } = database.address() as AddressInfo;
  const url = `postgres://user@127.0.0.1:${port}/pets?connect_timeout=60`;
  const running = new Workspace().start(['keys', 'create', '--name', 'shop', '--database-url', url]);
  await once(database, 'connection');
  const repeating = setInterval(() => running.child.kill('SIGINT'), 100);
  onTestFinished(() => clearInterval(repeating));
  expect(await running.exit).toEqual({ code: null, signal: 'SIGINT' });
  expect(running.out.stderr).toBe('animal-store: interrupted; the outcome of any write is unknown\n');
});
