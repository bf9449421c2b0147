/** Commands that change the API keys of a store, while a server in another process uses the store. */

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { isApiKey } from '../../src/domain/api-key.ts';
import type { Service } from '../support/process.ts';
import { stopService } from '../support/process.ts';
import { listWith, Workspace } from './workspace.ts';

async function statusWith(service: Service, key: string): Promise<number> {
  const response = await listWith(service, key);
  await response.arrayBuffer();
  return response.status;
}

/** Everything in the response that could say why a key is refused. */
async function refusalOf(service: Service, key: string): Promise<unknown> {
  const response = await listWith(service, key);
  const headers = [...response.headers].filter(([name]) => !/^(date|x-request-id)$/.test(name));
  return [response.status, headers, await response.text()];
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

  const elsewhere = await new Workspace().createKey();
  const revoked = await refusalOf(server, third);
  expect(await refusalOf(server, elsewhere)).toEqual(revoked);
  expect(await refusalOf(server, `${first}x`)).toEqual(revoked);
});

test('a canary key appears in no log line, no error and no file', async () => {
  const work = new Workspace();
  const canary = await work.createKey('canary');
  const server = await work.serve({ LOG_LEVEL: 'debug' });
  let seen = '';
  for (const key of [canary, canary.slice(0, -1), `${canary}0`]) {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    for (const [path, init] of [
      ['/pets', {}],
      ['/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' }],
      ['/pets', { method: 'POST', body: '{"name":' }],
      ['/pets/1', {}],
      ['/nowhere', { method: 'DELETE' }],
    ] as const) {
      const response = await fetch(`${server.origin}/v1${path}`, { ...init, headers });
      seen += JSON.stringify([...response.headers]) + (await response.text());
    }
  }
  for (const args of [
    ['keys', 'list'],
    ['keys', 'list', '--json'],
    ['keys', 'revoke', canary],
    ['keys', 'create', '--name', canary],
    ['keys', 'rotate', '1', '--overlap', canary],
    ['export'],
    ['export', '--database-url', canary],
    ['backup', work.path('copy.db')],
    ['keys', 'revoke', '1'],
  ]) {
    const { out, err } = await work.runHere(args);
    seen += out + err;
  }
  const files = () => readdirSync(work.folder).map((name) => readFileSync(work.path(name), 'latin1'));
  const open = files();
  await stopService(server);
  const log = server.out.stdout + server.out.stderr;
  expect(log).toContain('"request"');
  expect(open.length).toBeGreaterThanOrEqual(3);
  const needle = canary.slice(12, -6);
  for (const text of [seen, log, ...open, ...files()]) expect(text.includes(needle)).toBe(false);
  expect(files().some((text) => text.includes(canary.slice(0, 9)))).toBe(true);
});
