import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isApiKey } from '../../src/domain/api-key.ts';
import type { Service } from '../support/process.ts';
import { stopService } from '../support/process.ts';
import { endOf, listWith, Workspace } from './workspace.ts';

const TIMEOUT = { timeout: 60_000 };

async function statusWith(service: Service, key: string): Promise<number> {
  const response = await listWith(service, key);
  await response.arrayBuffer();
  return response.status;
}

describe('keys, while a server runs', TIMEOUT, () => {
  test('create: the key is valid immediately', async () => {
    const work = new Workspace();
    const server = await work.serve();
    const { status, out, err } = await work.run(['keys', 'create', '--name', 'shop', '--expires', '90d']);
    expect(status).toBe(0);
    expect(isApiKey(out.trim())).toBe(true);
    expect(err).toContain('shop');
    expect(await statusWith(server, out.trim())).toBe(200);
  });

  test('revoke: the next request is refused', async () => {
    const work = new Workspace();
    const server = await work.serve();
    const [key, other] = [await work.createKey('shop'), await work.createKey('other')];
    const [, { id }] = JSON.parse(await work.output('keys', 'list', '--json'));
    expect(await statusWith(server, key)).toBe(200);
    expect(await work.output('keys', 'revoke', id)).toBe(`Key ${id} (shop) is revoked.\n`);
    expect(await statusWith(server, key)).toBe(401);
    expect(await statusWith(server, other)).toBe(200);
  });

  test('rotate: the old key is valid until the overlap ends', async () => {
    const work = new Workspace();
    const first = await work.createKey('shop');
    const server = await work.serve();
    const second = (await work.output('keys', 'rotate', '1')).trim();
    expect([await statusWith(server, first), await statusWith(server, second)]).toEqual([200, 200]);
    const third = (await work.output('keys', 'rotate', '2', '--overlap', '0')).trim();
    expect([await statusWith(server, second), await statusWith(server, third)]).toEqual([401, 200]);
  });

  test('list: prints a table, or JSON for scripts', async () => {
    const work = new Workspace();
    const key = await work.createKey('shop');
    const server = await work.serve();
    expect(await statusWith(server, key)).toBe(200);
    const today = new Date().toISOString().slice(0, 10);
    await expect.poll(() => work.output('keys', 'list'), { timeout: 10_000 }).toContain(`${today}  ${today}`);
    const table = await work.output('keys', 'list');
    expect(table).toMatch(/^ID {2}NAME {2}PREFIX /);
    expect(table).toMatch(/^1 {3}shop {2}pets_/m);
    expect(JSON.parse(await work.output('keys', 'list', '--json'))).toMatchObject([
      { id: '1', name: 'shop' },
    ]);
  });

  test('revoked, unknown and mistyped keys get identical responses', async () => {
    const work = new Workspace();
    const revoked = await work.createKey();
    await work.createKey();
    await work.output('keys', 'revoke', '1');
    const elsewhere = await new Workspace().createKey();
    const server = await work.serve();
    const responses = await Promise.all(
      [revoked, elsewhere, `${revoked}x`].map(async (key) => {
        const response = await listWith(server, key);
        const headers = [...response.headers].filter(([name]) => !/^(date|x-request-id)$/.test(name));
        return [response.status, headers, await response.text()];
      }),
    );
    expect(responses[0]?.[0]).toBe(401);
    expect(responses[1]).toEqual(responses[0]);
    expect(responses[2]).toEqual(responses[0]);
  });
});

test('a canary key appears in no log line, no error and no file', TIMEOUT, async () => {
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
    ['backup', 'copy.db'],
    ['keys', 'revoke', '1'],
  ]) {
    const { out, err } = await work.run(args);
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

describe('the store of a command', TIMEOUT, () => {
  test('is given by --database-url, by DATABASE_URL or by a file', async () => {
    const work = new Workspace();
    await work.createKey('environment');
    const other = ['--create-store', '--database-url', `sqlite:${work.path('b.db')}`];
    await work.output('keys', 'create', '--name', 'option', ...other);
    writeFileSync(work.path('url'), `sqlite:${work.path('b.db')}\n`);
    const fromFile = { DATABASE_URL: '', DATABASE_URL_FILE: work.path('url') };
    expect((await work.run(['keys', 'list'], undefined, fromFile)).out).toContain('option');
    expect(await work.output('--database-url', `sqlite:${work.store}`, 'keys', 'list')).toContain(
      'environment',
    );
  });

  test('does not depend on the settings of a server', async () => {
    const work = new Workspace();
    await work.createKey();
    const environment = { PORT: 'none', LOG_LEVEL: 'loud', API_KEYS: 'x' };
    expect(await work.run(['keys', 'list'], undefined, environment)).toMatchObject({ status: 0, err: '' });
  });

  test.each([
    ['memory:', 'memory: is supported by serve and doctor only'],
    [
      'mysql://user:secret@host/db',
      "expected sqlite:PATH or memory: or postgres://HOST/DATABASE, got 'mysql:…'",
    ],
    ['sqlite:', "expected sqlite:PATH or memory: or postgres://HOST/DATABASE, got 'sqlite:'"],
  ])('cannot be %j', async (url, message) => {
    for (const args of [
      ['keys', 'list'],
      ['keys', 'create', '--name', 'x'],
      ['import', '-'],
      ['export'],
      ['backup', 'x'],
    ]) {
      const { status, out, err } = await new Workspace().run([...args, '--database-url', url]);
      expect([status, out]).toEqual([2, '']);
      expect(err).toMatch(/^animal-store: --database-url: .*\n$/);
      expect(err).toContain(message);
      expect(err).not.toContain('secret');
    }
  });

  test('is not created by a command that only reads', async () => {
    const work = new Workspace();
    const { status, err } = await work.run(['keys', 'list']);
    expect([status, err]).toEqual([1, `animal-store: DATABASE_URL: ${work.store}: there is no such file\n`]);
    expect(readdirSync(work.folder)).toEqual([]);
  });
});

describe('the command animal-store', TIMEOUT, () => {
  test('shows the first steps when it is called without a command', async () => {
    const { status, out, err } = await new Workspace().run([]);
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain('animal-store serve');
  });

  test('prints its version and its help', async () => {
    const work = new Workspace();
    expect(await work.output('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await work.output('--help')).toContain('Examples:');
    expect(await work.output('keys', 'rotate', '--help')).toContain('--overlap');
  });

  test.each([[['fly']], [['keys']], [['keys', 'fly']], [['import']], [['backup']], [['export', '--fast']]])(
    'reports wrong usage for the arguments %j',
    async (args) => {
      const { status, out, err } = await new Workspace().run(args);
      expect([status, out]).toEqual([2, '']);
      expect(err).not.toBe('');
    },
  );

  test('exits without an error when the reader of its output has closed the pipe', async () => {
    const work = new Workspace();
    await work.createKey();
    for (const args of [['keys', 'list'], ['--help'], ['export']]) {
      const running = work.start(args);
      running.child.stdout?.destroy();
      const { status, err } = await endOf(running);
      expect(status).toBe(0);
      expect(err).not.toContain('EPIPE');
    }
  });
});
