import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { isApiKey } from '../../src/domain/api-key.ts';
import { Bench, statusWith } from './cli-process.ts';

const TIMEOUT = { timeout: 60_000 };

describe('keys, beside a server that runs', TIMEOUT, () => {
  test('create: the key is good at once', async () => {
    const bench = new Bench();
    const { url } = await bench.serve();
    const { status, out, err } = await bench.run(['keys', 'create', '--name', 'shop', '--expires', '90d']);
    expect(status).toBe(0);
    expect(isApiKey(out.trim())).toBe(true);
    expect(err).toContain('shop');
    expect(await statusWith(url, out.trim())).toBe(200);
  });

  test('revoke: the next request is refused', async () => {
    const bench = new Bench();
    const { url } = await bench.serve();
    const [key, other] = [await bench.createKey('shop'), await bench.createKey('other')];
    const [, { id }] = JSON.parse(await bench.output('keys', 'list', '--json'));
    expect(await statusWith(url, key)).toBe(200);
    expect(await bench.output('keys', 'revoke', id)).toBe(`Key ${id} (shop) is revoked.\n`);
    expect(await statusWith(url, key)).toBe(401);
    expect(await statusWith(url, other)).toBe(200);
  });

  test('rotate: the old key goes on for as long as was said', async () => {
    const bench = new Bench();
    const first = await bench.createKey('shop');
    const { url } = await bench.serve();
    const second = (await bench.output('keys', 'rotate', '1')).trim();
    expect([await statusWith(url, first), await statusWith(url, second)]).toEqual([200, 200]);
    const third = (await bench.output('keys', 'rotate', '2', '--overlap', '0')).trim();
    expect([await statusWith(url, second), await statusWith(url, third)]).toEqual([401, 200]);
  });

  test('list: a table, and JSON for scripts', async () => {
    const bench = new Bench();
    const key = await bench.createKey('shop');
    const { url } = await bench.serve();
    expect(await statusWith(url, key)).toBe(200);
    const today = new Date().toISOString().slice(0, 10);
    await expect
      .poll(() => bench.output('keys', 'list'), { timeout: 10_000 })
      .toContain(`${today}  ${today}`);
    const table = await bench.output('keys', 'list');
    expect(table).toMatch(/^ID {2}NAME {2}KEY /);
    expect(table).toMatch(/^1 {3}shop {2}pets_/m);
    expect(JSON.parse(await bench.output('keys', 'list', '--json'))).toMatchObject([
      { id: '1', name: 'shop' },
    ]);
  });

  test('revoked, unknown and mistyped keys get the very same answer', async () => {
    const bench = new Bench();
    const revoked = await bench.createKey();
    await bench.createKey();
    await bench.output('keys', 'revoke', '1');
    const elsewhere = await new Bench().createKey();
    const { url } = await bench.serve();
    const answers = await Promise.all(
      [revoked, elsewhere, `${revoked}x`].map(async (key) => {
        const answer = await fetch(`${url}/pets`, { headers: { Authorization: `Bearer ${key}` } });
        const headers = [...answer.headers].filter(([name]) => !/^(date|x-request-id)$/.test(name));
        return [answer.status, headers, await answer.text()];
      }),
    );
    expect(answers[0]?.[0]).toBe(401);
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[2]).toEqual(answers[0]);
  });
});

test('a canary key is in no log line, no error and no byte of a file', TIMEOUT, async () => {
  const bench = new Bench();
  const canary = await bench.createKey('canary');
  const server = await bench.serve({ LOG_LEVEL: 'debug' });
  const { url } = server;
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
      const answer = await fetch(url + path, { ...init, headers });
      seen += JSON.stringify([...answer.headers]) + (await answer.text());
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
    const { out, err } = await bench.run(args);
    seen += out + err;
  }
  const files = () => readdirSync(bench.folder).map((name) => readFileSync(bench.path(name), 'latin1'));
  const open = files();
  await server.stop();
  expect(server.written()).toContain('"request"');
  expect(open.length).toBeGreaterThanOrEqual(3);
  const needle = canary.slice(12, -6);
  for (const text of [seen, server.written(), ...open, ...files()]) expect(text.includes(needle)).toBe(false);
  expect(files().some((text) => text.includes(canary.slice(0, 9)))).toBe(true);
});

describe('the store that a command works on', TIMEOUT, () => {
  test('is named by --database-url before DATABASE_URL, and by a file', async () => {
    const bench = new Bench();
    await bench.createKey('environment');
    await bench.output(
      'keys',
      'create',
      '--name',
      'option',
      '--database-url',
      `sqlite:${bench.path('b.db')}`,
    );
    writeFileSync(bench.path('url'), `sqlite:${bench.path('b.db')}\n`);
    const fromFile = { DATABASE_URL: '', DATABASE_URL_FILE: bench.path('url') };
    expect((await bench.run(['keys', 'list'], '', fromFile)).out).toContain('option');
    expect(await bench.output('--database-url', `sqlite:${bench.store}`, 'keys', 'list')).toContain(
      'environment',
    );
  });

  test('is no concern of the settings of a server', async () => {
    const bench = new Bench();
    await bench.createKey();
    const environment = { PORT: 'none', LOG_LEVEL: 'loud', API_KEYS: 'x' };
    expect(await bench.run(['keys', 'list'], '', environment)).toMatchObject({ status: 0, err: '' });
  });

  test.each([
    ['memory:', 'memory: keeps nothing'],
    ['mysql://user:secret@host/db', "'mysql:…' is given"],
    ['sqlite:', "'sqlite:…' is given"],
  ])('cannot be %j', async (url, message) => {
    for (const args of [
      ['keys', 'list'],
      ['keys', 'create', '--name', 'x'],
      ['import', '-'],
      ['export'],
      ['backup', 'x'],
    ]) {
      const { status, out, err } = await new Bench().run([...args, '--database-url', url]);
      expect([status, out]).toEqual([2, '']);
      expect(err).toMatch(/^animal-store: DATABASE_URL: .*\n$/);
      expect(err).toContain(message);
      expect(err).not.toContain('secret');
    }
  });

  test('is not made by a command that only looks', async () => {
    const bench = new Bench();
    const { status, err } = await bench.run(['keys', 'list']);
    expect([status, err]).toEqual([1, `animal-store: ${bench.store}: there is no such file\n`]);
    expect(readdirSync(bench.folder)).toEqual([]);
  });
});

describe('the bin', TIMEOUT, () => {
  test('shows what to do first when it is called alone', async () => {
    const { status, out, err } = await new Bench().run([]);
    expect([status, out]).toEqual([2, '']);
    expect(err).toContain('animal-store serve');
  });

  test('knows its version, and helps', async () => {
    const bench = new Bench();
    expect(await bench.output('--version')).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await bench.output('--help')).toContain('Examples:');
    expect(await bench.output('keys', 'rotate', '--help')).toContain('--overlap');
  });

  test.each([[['fly']], [['keys']], [['keys', 'fly']], [['import']], [['backup']], [['export', '--fast']]])(
    'of %j is wrong usage',
    async (args) => {
      const { status, out, err } = await new Bench().run(args);
      expect([status, out]).toEqual([2, '']);
      expect(err).not.toBe('');
    },
  );

  test('does not mind that nobody reads on', async () => {
    const bench = new Bench();
    await bench.createKey();
    for (const args of [['keys', 'list'], ['--help'], ['export']]) {
      const { child, ended } = bench.start(args);
      child.stdout?.destroy();
      const { status, err } = await ended;
      expect(status).toBe(0);
      expect(err).not.toContain('EPIPE');
    }
  });
});
