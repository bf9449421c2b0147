import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { isApiKey } from '../../../src/domain/api-key.ts';
import { commandLine, failed, inMemory } from './cli.ts';

type Cli = ReturnType<typeof inMemory>;

async function createShop({ run }: Cli, ...flags: string[]): Promise<string> {
  return (await run(['keys', 'create', '--name', 'shop', ...flags])).out.trim();
}

async function keysOf({ run }: Cli, ...flags: string[]) {
  return JSON.parse((await run(['keys', 'list', '--json', ...flags])).out);
}

async function holderOf({ openStore }: Cli, key: string): Promise<string | undefined> {
  return (await openStore().verifyApiKey(key))?.id;
}

test.each([
  ['keys', 'create', '--name', '--expires=90d'],
  ['pets', 'create', '--category-id', '1', '--name', '--json'],
  ['doctor', '--backup', '--json'],
  ['--database-url', '--json', 'keys', 'list'],
])('an option is not taken as the value of another one: %s %s %s %s', async (...args) => {
  const { status, out, err } = await commandLine().run(args);
  expect([status, out]).toEqual([2, '']);
  expect(err).toMatch(
    /^animal-store: option '--\S+ <\w+>' argument '--\S+' is invalid\. expected a value that does not/,
  );
});

describe('keys create', () => {
  test('prints only the key to standard output, and its attributes to standard error', async () => {
    const cli = inMemory();
    const args = ['keys', 'create', '--name', 'shop', '--expires', '2999-01-31'];
    const { status, out, err } = await cli.run(args);
    expect(status).toBe(0);
    const key = out.trim();
    expect(out).toBe(`${key}\n`);
    expect(isApiKey(key)).toBe(true);
    expect(err).toContain('shop');
    expect(err).toContain('2999-02-01 00:00 UTC');
    expect(err).not.toContain(key);
    expect(await holderOf(cli, key)).toBe('1');
  });

  test('--read-only creates a key that only reads, which the list shows, and rotation keeps', async () => {
    const { run, openStore } = inMemory();
    const { err } = await run(['keys', 'create', '--name', 'page', '--read-only']);
    expect(err).toContain('  access   read-only\n');
    const rotated = (await run(['keys', 'rotate', '1'])).out.trim();
    expect(await openStore().verifyApiKey(rotated)).toMatchObject({ id: '2', isReadOnly: true });
    expect((await run(['keys', 'list'])).out).toMatch(/^2 .* active, read-only /m);
    const listed = JSON.parse((await run(['keys', 'list', '--json'])).out);
    expect(listed).toMatchObject([{ readOnly: true }, { readOnly: true }]);
  });

  test.each([
    [[], "required option '--name <name>' not specified"],
    [['--name', ''], 'expected 1 to 100 characters'],
    [['--name', 'a\u001b[31mb'], 'without control characters'],
    [['--name', 'x', '--expires', '2020-01-31'], 'must be in the future'],
    [
      ['--name', 'x', '--expires', 'soon'],
      'expected a duration such as 90d, 12h or 30m, a valid date such as 2027-01-31, or never',
    ],
  ])('%j is wrong usage: %s', async (args, message) => {
    const cli = inMemory();
    const { status, out, err } = await cli.run(['keys', 'create', ...args]);
    expect([status, out]).toEqual([2, '']);
    expect(err).toMatch(/^animal-store: .*\n$/);
    expect(err).toContain(message);
    expect(await keysOf(cli)).toEqual([]);
  });
});

describe('keys list', () => {
  test('is a table that fits the screen', async () => {
    const cli = inMemory();
    const { run } = cli;
    await createShop(cli);
    const name = 'a client with a very long name indeed';
    await run(['keys', 'create', '--name', name, '--expires', '2999-01-31']);
    await run(['keys', 'revoke', '1']);
    const { status, out, err } = await run(['keys', 'list']);
    expect([status, err]).toEqual([0, '']);
    const [head = '', shop = '', client = ''] = out.split('\n');
    expect(head).toMatch(/^ID {2}NAME +PREFIX +STATUS +CREATED +LAST USED$/);
    expect(shop).toMatch(/^1 {3}shop +pets_\w{4} {2}revoked on \d{4}-\d\d-\d\d {2}\d{4}-\d\d-\d\d {2}-$/);
    expect(client).toMatch(
      /^2 {3}a client with a very long name indeed {2}pets_\w{4} {2}ends on 2999-01-31 +\d.* {2}-$/,
    );
    const narrow = await run(['keys', 'list'], { columns: 80 });
    for (const line of narrow.out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    expect(narrow.out).toContain('a client with a ve…');
  });

  test('--json has everything but the key', async () => {
    const cli = inMemory();
    const key = await createShop(cli);
    expect(await holderOf(cli, key)).toBe('1');
    const { out } = await cli.run(['keys', 'list', '--json']);
    expect(out).not.toContain(key);
    expect(JSON.parse(out)).toEqual([
      {
        id: '1',
        name: 'shop',
        prefix: key.slice(0, 9),
        readOnly: false,
        status: 'active',
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        lastUsedOn: new Date().toISOString().slice(0, 10),
        expiresAt: null,
        revokedAt: null,
      },
    ]);
  });

  test('shows the status of each key, and with --active only the active keys', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 10, 21) });
    onTestFinished(() => void vi.useRealTimers());
    const cli = inMemory();
    const { apiKeys } = cli.openStore();
    await apiKeys.create('good');
    await apiKeys.create('short', Date.now() + 1);
    await apiKeys.create('leaked');
    await apiKeys.create('guest', Date.UTC(2999, 1, 1));
    await apiKeys.revoke('3');
    vi.setSystemTime(Date.UTC(2026, 10, 22));
    const { out } = await cli.run(['keys', 'list']);
    const statuses = out.split('\n').map((row) => row.slice(23).split('  ')[0]);
    expect(statuses.slice(1, 5)).toEqual([
      'active',
      'expired on 2026-11-21',
      'revoked on 2026-11-21',
      'ends on 2999-01-31',
    ]);
    const all = (await keysOf(cli)).map(({ status }: { status: string }) => status);
    expect(all).toEqual(['active', 'expired', 'revoked', 'active']);
    const active = (await keysOf(cli, '--active')).map(({ name }: { name: string }) => name);
    expect(active).toEqual(['good', 'guest']);
    expect((await cli.run(['keys', 'list', '--active'])).out.split('\n')).toHaveLength(4);
  });

  test('of a store without an active key, or without keys, says how to create one', async () => {
    const cli = inMemory();
    const advice = 'Create one: animal-store keys create --name NAME\n';
    const { status, out, err } = await cli.run(['keys', 'list']);
    expect([status, out]).toEqual([0, '']);
    expect(err).toContain(advice);
    expect(await keysOf(cli)).toEqual([]);
    await createShop(cli);
    await cli.run(['keys', 'revoke', '1']);
    expect(await cli.run(['keys', 'list', '--active'])).toEqual({
      status: 0,
      out: '',
      err: `There is no active key. ${advice}`,
    });
  });
});

describe('keys revoke', () => {
  test('revokes a key, and says so', async () => {
    const cli = inMemory();
    const key = await createShop(cli);
    expect(await cli.run(['keys', 'revoke', '1'])).toEqual({
      status: 0,
      out: 'Key 1 (shop) is revoked.\n',
      err: '',
    });
    expect(await holderOf(cli, key)).toBeUndefined();
    expect(JSON.parse((await cli.run(['keys', 'revoke', '1', '--json'])).out)).toMatchObject({
      id: '1',
      revokedAt: expect.stringMatching(/Z$/),
    });
  });

  test('of an unknown id fails', async () => {
    const cli = inMemory();
    await createShop(cli);
    for (const id of ['2', '0', '999999999999999999']) {
      const expected = failed(1, `there is no key with id ${id}`);
      expect(await cli.run(['keys', 'revoke', id])).toEqual(expected);
      expect(await cli.run(['keys', 'rotate', id])).toEqual(expected);
    }
  });
});

describe('keys rotate', () => {
  test('creates a key with the same name; the old key expires after the overlap', async () => {
    const cli = inMemory();
    const old = await createShop(cli);
    const { status, out, err } = await cli.run(['keys', 'rotate', '1', '--overlap', '12h']);
    expect(status).toBe(0);
    expect(isApiKey(out.trim())).toBe(true);
    expect(err).toMatch(/Key 1 expires \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    const keys = await keysOf(cli);
    expect(keys[1]).toMatchObject({ id: '2', name: 'shop', expiresAt: null });
    expect(Math.abs(Date.parse(keys[0].expiresAt) - Date.now() - 12 * 3_600_000)).toBeLessThan(60_000);
    expect(await holderOf(cli, old)).toBe('1');
    expect(await holderOf(cli, out.trim())).toBe('2');
  });

  test('keeps the lifetime of the old key, unless --expires says otherwise', async () => {
    const cli = inMemory();
    await createShop(cli, '--expires', '90d');
    for (const expires of [[], ['--expires', 'never'], ['--expires', '1d']]) {
      await cli.run(['keys', 'rotate', '1', ...expires]);
    }
    const [, like, never, day] = await keysOf(cli);
    const days = (time: string) => Math.round((Date.parse(time) - Date.now()) / 86_400_000);
    expect([days(like.expiresAt), never.expiresAt, days(day.expiresAt)]).toEqual([90, null, 1]);
  });

  test('accepts an overlap of 0, and an expiry', async () => {
    const cli = inMemory();
    const old = await createShop(cli);
    const args = ['keys', 'rotate', '1', '--overlap', '0', '--expires', '2999-01-31', '--json'];
    const { out, err } = await cli.run(args);
    expect(err).toContain('Key 1 expires now.');
    expect(JSON.parse(out)).toMatchObject({ id: '2', expiresAt: '2999-02-01T00:00:00.000Z' });
    expect(isApiKey(JSON.parse(out).key)).toBe(true);
    expect(await holderOf(cli, old)).toBeUndefined();
  });

  test('of an inactive key fails, and an invalid option is wrong usage', async () => {
    const cli = inMemory();
    await createShop(cli);
    expect(await cli.run(['keys', 'rotate', '1', '--overlap', 'long'])).toMatchObject({ status: 2 });
    expect(await cli.run(['keys', 'rotate', '1', '--expires', '1999-01-01'])).toMatchObject({ status: 2 });
    await cli.run(['keys', 'revoke', '1']);
    const { status, err } = await cli.run(['keys', 'rotate', '1']);
    expect([status, err]).toEqual([1, 'animal-store: key 1 is revoked or expired: create a new one\n']);
  });
});

test('a key that is given as a wrong argument is never printed', async () => {
  const cli = inMemory();
  const key = await createShop(cli);
  for (const args of [
    ['keys', 'revoke', key],
    ['keys', 'rotate', key],
    ['keys', 'rotate', '1', '--overlap', key],
    ['keys', 'create', '--name', key],
    ['keys', 'create', '--name', `of ${key}`],
    ['keys', 'create', '--name', 'x', '--expires', key],
    ['keys', key],
    [key],
    [`--${key}`],
    ['keys', 'list', key],
    ['export', '--status', key],
    ['import', key],
    ['backup', '/', key],
    ['pets', 'get', key],
    ['restore', key],
  ]) {
    const { status, out, err } = await cli.run(args);
    expect(status).not.toBe(0);
    expect(out + err).not.toContain(key.slice(0, 12));
    expect(err).toMatch(/^animal-store: .*\n$/);
  }
  expect(await keysOf(cli)).toHaveLength(1);
  expect(await holderOf(cli, key)).toBe('1');
});
