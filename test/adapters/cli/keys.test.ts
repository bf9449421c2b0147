import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { moment } from '../../../src/adapters/cli/format.ts';
import { openMemoryStorage } from '../../../src/adapters/memory/index.ts';
import { AnimalStore } from '../../../src/application/animal-store.ts';
import { API_KEY_PREFIX, apiKeyPrefix, isApiKey } from '../../../src/domain/api-key.ts';
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
  ['pets', 'list', '--after', '--json'],
  ['doctor', '--backup', '--json'],
  ['--database-url', '--json', 'keys', 'list'],
])('an option is not taken as the value of another one: %s %s %s %s', async (...args) => {
  const { status, out, err } = await commandLine().run(args);
  expect([status, out]).toEqual([2, '']);
  expect(err).toMatch(
    /^animal-store: option '--\S+ <\w+>' argument '--\S+' is invalid\. expected a value; one that begins with - /,
  );
});

test('a new key is printed although the store cannot be closed', async () => {
  const close = () => Promise.reject(new Error('closing failed'));
  const store = new AnimalStore({ ...openMemoryStorage(), close });
  const { run } = commandLine('', { openStore: async () => store });
  const { status, out, err } = await run(['keys', 'create', '--name', 'shop']);
  expect([status, isApiKey(out.trim())]).toEqual([0, true]);
  expect(err).toContain('animal-store: closing failed\n');
});

test.each([
  ['-Rex', ['--name=-Rex']],
  ['--read-only', ['--name=--read-only', '--read-only']],
  ['-Rex', ['--name', 'shop', '--name=-Rex']],
])('a name that begins with - is given with =, beside any other option: %s in %j', async (name, args) => {
  const { status, err } = await inMemory().run(['keys', 'create', ...args]);
  expect([status, err]).toEqual([0, expect.stringContaining(`Key 1 (${name}`)]);
});

describe('keys create', () => {
  test('prints only the key to standard output, and its attributes to standard error', async () => {
    const cli = inMemory();
    const args = ['keys', 'create', '--name', 'shop', '--expires', '2999-01-31'];
    const { status, out, err } = await cli.run(args);
    const key = out.trim();
    expect([status, out, isApiKey(key)]).toEqual([0, `${key}\n`, true]);
    expect(err).toBe('Key 1 (shop) expires at 2999-02-01 00:00:00 UTC. Save it: it is not shown again.\n');
    expect(await holderOf(cli, key)).toBe('1');
  });

  test('--json prints the key with its attributes', async () => {
    const cli = inMemory();
    const { out } = await cli.run(['keys', 'create', '--name', 'shop', '--json']);
    const { key, ...about } = JSON.parse(out);
    expect(await keysOf(cli)).toEqual([about]);
    expect([isApiKey(key), await holderOf(cli, key)]).toEqual([true, about.id]);
  });

  test('--read-only creates a key that only reads, which the list shows, and rotation keeps', async () => {
    const { run, openStore } = inMemory();
    const { err } = await run(['keys', 'create', '--name', 'page', '--read-only']);
    expect(err).toContain('(page, read-only) never expires');
    const rotated = (await run(['keys', 'rotate', '1'])).out.trim();
    expect(await openStore().verifyApiKey(rotated)).toMatchObject({ id: '2', isReadOnly: true });
    expect((await run(['keys', 'list'])).out).toMatch(/^2 .* active, read-only /m);
    const listed = JSON.parse((await run(['keys', 'list', '--json'])).out);
    expect(listed).toMatchObject([{ readOnly: true }, { readOnly: true }]);
  });
});

describe('keys list', () => {
  test('is a table, and with --json has everything but the key', async () => {
    const cli = inMemory();
    const key = await createShop(cli);
    expect(await holderOf(cli, key)).toBe('1');
    const { status, out, err } = await cli.run(['keys', 'list']);
    expect([status, err]).toEqual([0, '']);
    const today = new Date().toISOString().slice(0, 10);
    expect(out.split('\n').map((row) => row.split(/ {2,}/))).toEqual([
      ['ID', 'NAME', 'PREFIX', 'STATUS', 'ENDS', 'CREATED', 'LAST USED'],
      ['1', 'shop', apiKeyPrefix(key), 'active', '-', today, today],
      [''],
    ]);
    expect(await keysOf(cli)).toEqual([
      {
        id: '1',
        name: 'shop',
        prefix: apiKeyPrefix(key),
        readOnly: false,
        status: 'active',
        createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        lastUsedOn: today,
        expiresAt: null,
        revokedAt: null,
      },
    ]);
  });

  test('of a store without keys says so on standard error', async () => {
    const cli = inMemory();
    const nothing = { status: 0, out: '' };
    expect(await cli.run(['keys', 'list'])).toEqual({ ...nothing, err: 'There is no key.\n' });
    expect(await cli.run(['keys', 'list', '--active'])).toEqual({
      ...nothing,
      err: 'There is no active key.\n',
    });
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
    const statuses = out.split('\n').map((row) => row.split(/ {2,}/).slice(3, 5).join(', '));
    expect(statuses.slice(1, 5)).toEqual([
      'active, -',
      'expired, 2026-11-21 00:00:01 UTC',
      'revoked, 2026-11-21 00:00:00 UTC',
      'active, 2999-02-01 00:00:00 UTC',
    ]);
    expect(await keysOf(cli)).toMatchObject(
      ['active', 'expired', 'revoked', 'active'].map((status) => ({ status })),
    );
    expect(await keysOf(cli, '--active')).toMatchObject([{ name: 'good' }, { name: 'guest' }]);
  });
});

test('keys revoke revokes a key, and says so', async () => {
  const cli = inMemory();
  const key = await createShop(cli);
  const revoked = { status: 0, out: 'Key 1 (shop) is revoked.\n', err: '' };
  expect(await cli.run(['keys', 'revoke', '1'])).toEqual(revoked);
  expect(await holderOf(cli, key)).toBeUndefined();
  const about = { id: '1', revokedAt: expect.stringMatching(/Z$/) };
  expect(JSON.parse((await cli.run(['keys', 'revoke', '1', '--json'])).out)).toMatchObject(about);
  expect(await cli.run(['keys', 'revoke', '2'])).toEqual(failed(1, 'there is no key with id 2'));
});

describe('keys rotate', () => {
  test('creates a key with the same name; the old key expires after the overlap', async () => {
    const cli = inMemory();
    const old = await createShop(cli);
    const { status, out, err } = await cli.run(['keys', 'rotate', '1', '--overlap', '12h']);
    expect([status, isApiKey(out.trim())]).toEqual([0, true]);
    const [, end = ''] = /\nKey 1 expires by (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\.\n$/.exec(err) ?? [];
    expect(Date.parse(`${end}Z`)).toBeGreaterThan(Date.now());
    const keys = await keysOf(cli);
    expect(keys[1]).toMatchObject({ id: '2', name: 'shop', expiresAt: null });
    expect(Math.abs(Date.parse(keys[0].expiresAt) - Date.now() - 12 * 3_600_000)).toBeLessThan(60_000);
    expect([await holderOf(cli, old), await holderOf(cli, out.trim())]).toEqual(['1', '2']);
  });

  test('keeps the lifetime of the old key, unless --expires says otherwise', async () => {
    const cli = inMemory();
    await createShop(cli, '--expires', '90d');
    for (const expires of [[], ['--expires', 'never'], ['--expires', '1d']])
      await cli.run(['keys', 'rotate', '1', ...expires]);
    const { err } = await cli.run(['keys', 'rotate', '1', '--overlap', '30d']);
    expect(err).toContain(`Key 1 expires by ${moment(Date.parse((await keysOf(cli))[0].expiresAt))}.\n`);
    const [, like, never, day] = await keysOf(cli);
    const days = (time: string) => Math.round((Date.parse(time) - Date.now()) / 86_400_000);
    expect([days(like.expiresAt), never.expiresAt, days(day.expiresAt)]).toEqual([90, null, 1]);
  });
});

test('a key that is given as a wrong argument is never printed', async () => {
  const cli = inMemory();
  const key = await createShop(cli);
  for (const args of [
    ['keys', 'revoke', key],
    ['keys', 'rotate', '1', '--overlap', key],
    ['keys', 'create', '--name', `of ${key}`],
    ['keys', 'create', '--name', 'x', '--expires', key],
    ['keys', key],
    [key],
    [`--${key}`],
    ['export', '--status', key],
    ['import', key],
  ]) {
    const { status, out, err } = await cli.run(args);
    expect(status).not.toBe(0);
    expect(out + err).not.toContain(key.slice(0, API_KEY_PREFIX.length + 7));
    expect(err).toMatch(/^animal-store: .*\n$/);
  }
  expect(await keysOf(cli)).toHaveLength(1);
  expect(await holderOf(cli, key)).toBe('1');
});
